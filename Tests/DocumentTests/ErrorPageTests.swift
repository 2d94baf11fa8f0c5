// The pages about errors list every code, and no other.

import Foundation
import Testing

@Suite struct ErrorPageTests {
    @Test func `every code has its cause and its remedy`() throws {
        let source = try Document("Sources/SynclineCore/Errors/SyncError.swift").text
        let codes = source.matches(of: /Self\(rawValue: "([a-z-]+)"\)/).map { String($0.1) }
        let page = try Document("Sources/Syncline/Syncline.docc/Error-codes.md").text
        let rows = page.matches(of: /\n\| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \|/).map { String($0.1) }
        #expect(codes.count > 30)
        #expect(Set(rows) == Set(codes))
        #expect(rows.count == Set(rows).count)
    }

    @Test func `every code that a request may meet is on the page about the protocol`() throws {
        let folders = ["Sources/SynclineServer", "Sources/SynclineTables", "Sources/SynclineWire"]
        let sources = try Document.files(in: folders, ending: ".swift").map { try Document($0).text }.joined()
        let page = try Document("docs/PROTOCOL.md").text
        let errors = page.split(separator: "\n## ").first { $0.hasPrefix("Errors") } ?? ""
        let listed = Set(errors.matches(of: /`([a-z]+(-[a-z]+)*)`/).map { String($0.1) })
        #expect(listed.count > 40)
        for code in listed { #expect(sources.contains("\"\(code)\""), "no answer has \(code)") }
        for match in sources.matches(of: /Refusal\(\s*4\d\d, "([a-z-]+)"/) {
            #expect(listed.contains(String(match.1)), "the page has no \(match.1)")
        }
    }
}
