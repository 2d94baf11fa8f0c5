// The entries of an index on strings, in the order of the whole strings.

import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct IndexEntriesTests {
    @Test(arguments: [1, 2, 3, 7, 1000])
    func `entries are the rows in the order of their strings, whatever was cut off`(groupLimit: Int) async throws {
        var chance = Chance(seed: UInt64(groupLimit))
        let database = try await SyncDatabase.open(MemoryStorage(), SyncConfiguration())
        try await database.declareIndex(table: "t", columns: ["word", "other"])
        var words: [String: String?] = [:]
        var rows: [PulledRow] = []
        for number in 0..<300 {
            let long = String(repeating: chance.pick(["x", "y\u{0}", "é"]), count: 20 + chance.below(30))
            let word: String? =
                switch chance.below(4) {
                case 0: nil
                case 1: chance.pick(["", "a", "a\u{0}", "a\u{0}\u{0}b", "b\u{1}"])
                default: long + "\(chance.below(5))"
                }
            words["r\(number)"] = word
            var members: [Value.Member] = [
                .init("other", .integer(Int64(chance.below(3)))), .init("version", .string("v")),
            ]
            if let word { members.append(.init("word", .string(word))) }
            rows.append(PulledRow(id: "r\(number)", row: Row(members)))
        }
        try await database.pull(PulledPage(table: "t", queryID: "all", rows: rows, cursor: nil))
        try await database.checkpoint()
        let reader = try database.present.reader
        let entries = try #require(
            try IndexEntries(reader, table: "t", column: "word", groupLimit: groupLimit))
        var found: [(id: String, word: [UInt8]?)] = []
        while let entry = entries.current {
            let id = entry.row.id
            if entry.isWhole {
                found.append((id, words[id].flatMap { $0.map { Array($0.utf8) } }))
            } else {
                found.append((id, entry.text.map { [UInt8]($0) }))
            }
            try entries.advance()
        }
        #expect(found.count == 300 && Set(found.map { $0.id }).count == 300)
        for entry in found { #expect(entry.word == words[entry.id].flatMap { $0.map { Array($0.utf8) } }) }
        for (one, next) in zip(found, found.dropFirst()) {
            #expect(
                (one.word ?? []).lexicographicallyPrecedes(next.word ?? []) || one.word == next.word || one.word == nil)
        }
    }

    @Test func `an index with other values than strings has no entries to read`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), SyncConfiguration())
        try await database.declareIndex(table: "t", column: "word")
        try await database.table("t").insert(.object([.init("id", .string("a")), .init("word", .string("x"))]))
        #expect(try IndexEntries(database.present.reader, table: "t", column: "word") != nil)
        #expect(try IndexEntries(database.present.reader, table: "t", column: "other") == nil)
        for value in [Value.integer(1), .bool(true), .array([])] {
            try await database.table("t").insert(.object([.init("id", .string("b")), .init("word", value)]))
            #expect(try IndexEntries(database.present.reader, table: "t", column: "word") == nil)
            try await database.table("t").delete(id: "b")
            try await database.purge(table: "t", force: true)
        }
    }
}
