// How rows that refer to others are joined with them by ids.

import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct RowReferencesTests {
    private static let uuid = "0f0e0d0c-0b0a-4908-8706-050403020100"

    private func rows(_ ids: String...) -> [StoredRow] { ids.map { StoredRow(id: $0, columns: .empty) } }

    private func add(_ id: String, of row: Int, to references: inout RowReferences) {
        let isText = Value.string(id).encoded.withBytes { references.append(encoded: $0, of: row) }
        #expect(isText)
    }

    @Test func `each row finds the first of others that it refers to`() {
        var references = RowReferences()
        let long = String(repeating: "x", count: 200)
        for (row, id) in ["b", Self.uuid, "none", "caf\u{e9}", long].enumerated() { add(id, of: row, to: &references) }
        references.append(Self.uuid.uppercased(), of: 5)
        for id in ["b", "caf\u{e9}"] { references.append(id, of: 6) }
        let others = rows("b", Self.uuid, "cafe\u{301}", "caf\u{e9}", long, Self.uuid.uppercased())
        #expect(references.places(of: 8, in: others) == [0, 1, nil, 3, 4, 5, 0, nil])
        #expect(
            references.values
                == ["b", Self.uuid, "none", "caf\u{e9}", long, Self.uuid.uppercased(), "b", "caf\u{e9}"].map {
                    .string($0)
                })
    }

    @Test func `each row finds all that refer to it, in order and once`() {
        var references = RowReferences()
        for id in ["a", "b", "a"] { references.append(id, of: 0) }
        references.append("b", of: 1)
        references.append("none", of: 2)
        references.append("a", of: 3)
        let places = references.places(referringTo: rows("a", "other", "b"))
        #expect((0..<3).map { Array(places[$0]) } == [[0, 3], [], [0, 1]])
    }

    @Test func `a UUID is found in both cases, and other values are no ids`() {
        var references = RowReferences()
        let isUUID = Value.string(Self.uuid).encoded.withBytes { references.append(encodedUUID: $0, of: 0) }
        let isMixed = Value.string("0F" + Self.uuid.dropFirst(2)).encoded.withBytes {
            references.append(encodedUUID: $0, of: 1)
        }
        let isNumber = Value.integer(7).encoded.withBytes { references.append(encoded: $0, of: 2) }
        #expect(isUUID && !isMixed && !isNumber)
        #expect(references.places(of: 2, in: rows(Self.uuid.uppercased())) == [0, nil])
        #expect(references.places(of: 2, in: rows(Self.uuid)) == [0, nil])
    }
}
