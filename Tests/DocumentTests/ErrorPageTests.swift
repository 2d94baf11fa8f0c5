// The page about errors has every code, and no other.

import Foundation
import Testing

@Suite struct ErrorPageTests {
    @Test func `every code has its cause and its remedy`() throws {
        let source = try Document("Sources/SynclineCore/SyncError.swift").text
        let codes = source.matches(of: /Self\(rawValue: "([a-z-]+)"\)/).map { String($0.1) }
        let page = try Document("Sources/Syncline/Syncline.docc/Error-codes.md").text
        let rows = page.matches(of: /\n\| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \|/).map { String($0.1) }
        #expect(codes.count > 30)
        #expect(Set(rows) == Set(codes))
        #expect(rows.count == Set(rows).count)
    }
}
