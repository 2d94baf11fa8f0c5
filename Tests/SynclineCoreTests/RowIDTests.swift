// Ids in results: a UUID is kept as its bytes, and its string is the one that was stored.

import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct RowIDTests {
    private let ids = [
        "", "a", "9f8c2a40-5b1d-4e7a-8c11-0d2e3f405162", "9F8C2A40-5B1D-4E7A-8C11-0D2E3F405162",
        "9f8c2a40-5b1d-4e7a-8c11-0d2e3f40516A", "11111111-2222-3333-4444-555555555555",
        "9f8c2a40-5b1d-4e7a-8c11-0d2e3f40516", "9f8c2a40+5b1d-4e7a-8c11-0d2e3f405162", "\u{e9}", "e\u{301}",
    ]

    @Test func `an id is the string that was given`() {
        for id in ids {
            var row = StoredRow(id: id, columns: .empty)
            #expect(Array(row.id.utf8) == Array(id.utf8))
            for other in ids {
                row.id = other
                #expect(Array(row.id.utf8) == Array(other.utf8))
                let isSame = Array(id.utf8) == Array(other.utf8)
                #expect((row == StoredRow(id: id, columns: .empty)) == isSame, "\(id), \(other)")
            }
        }
        #expect(Set(ids.map { StoredRow(id: $0, columns: .empty) }).count == ids.count)
        // The same id, read from a string and from a key.
        #expect(Set((ids + ids).map { StoredRow(id: $0, columns: .empty) }).count == ids.count)
    }

    @Test func `an id read from a key equals the one made of its string`() throws {
        for id in ids {
            let key = RowKey.bytes("t", id, .exact)
            let read = try key.withBytes { try RowKey.id(in: $0, skipping: RowKey.prefixLength("t")) }
            #expect(read == CompactID(id), "\(id)")
            #expect(Array(read.text.utf8) == Array(id.utf8))
        }
    }

    @Test func `rows sort as their ids do, whatever the form of those`() {
        var rows = ids.reversed().map { StoredRow(id: $0, columns: .empty) }
        rows.sortByID()
        let scalars = ids.sorted { $0.unicodeScalars.lexicographicallyPrecedes($1.unicodeScalars) }
        #expect(rows.map { Array($0.id.utf8) } == scalars.map { Array($0.utf8) })
    }
}
