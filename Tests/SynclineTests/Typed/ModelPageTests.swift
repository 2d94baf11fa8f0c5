// Pages of a typed query: together they are the list, also if it changes meanwhile.

import Foundation
import SegmentLog
import Testing

@testable import Syncline

private struct Entry: SyncModel, Equatable {
    static let table = "t"

    var id: UUID
    var rank: Int
    var note: String?
}

@Suite struct ModelPageTests {
    /// A store with rows whose ranks are the same for many of them, and whose ids are written in both cases.
    private func store(_ count: Int) async throws -> (SyncDatabase, SyncTable<Entry>) {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await database.transaction { transaction in
            for number in 0..<count {
                let id = "0000000\(number % 10)-ABCD-4000-8000-\(String(format: "%012X", number * 7919))"
                let spelled = number % 2 == 0 ? id.lowercased() : id
                try transaction.insert("t", .item(spelled, ["rank": .integer(Int64(number % 3))]))
            }
        }
        return (database, try database.table(Entry.self))
    }

    private func pages(_ query: SyncQuery<Entry>) async throws -> [[Entry]] {
        var found: [[Entry]] = []
        var page: SyncQuery<Entry>.Page? = try await query.page()
        while let current = page {
            found.append(current.models)
            page = try await query.page(after: current)
        }
        return found
    }

    @Test func `pages together are the list`() async throws {
        let (database, entries) = try await store(250)
        for isIndexed in [false, true] {
            if isIndexed { try await database.declareIndex(table: "t", columns: ["rank"]) }
            let list = entries.where { $0.rank > 0 }.order(by: \.rank, .descending)
            let whole = try await list.get()
            for size in [1, 7, 83, 166, 300] {
                let found = try await pages(list.limit(size))
                #expect(found.flatMap { $0 } == whole, "\(size)")
                #expect(found.dropLast().allSatisfy { $0.count == size } && found.last?.isEmpty == false, "\(size)")
            }
            #expect(try await pages(list).map(\.count) == [100, 66])
            #expect(try await pages(list.offset(160).limit(4)).flatMap { $0 } == Array(whole[160...]))
        }
        #expect(try await pages(entries.where { $0.rank > 5 }).map(\.count) == [0])
    }

    @Test func `a page without a model that can be decoded is not the last`() async throws {
        let (database, entries) = try await store(30)
        let list = entries.skippingUndecodable { _ in }.order(by: \.rank).limit(5)
        let whole = try await list.limit(30).get()
        for entry in whole[5..<15] {
            let text = entry.id.uuidString
            let id = try await entries.untyped.get(id: text) == nil ? text.lowercased() : text
            // A server that knows no types sends what the model can't decode.
            let row = Row([.init("note", 5), .init("rank", 0), .init("version", .string("1"))])
            try await database.pull(
                PulledPage(table: "t", queryID: nil, rows: [.init(id: id, row: row)], cursor: nil))
        }
        let found = try await pages(list).flatMap { $0 }
        #expect(found == Array(whole[..<5]) + whole[15...])
    }

    @Test func `rows that come and go between pages are neither missed nor repeated`() async throws {
        let (_, entries) = try await store(60)
        let list = entries.order(by: \.rank).limit(10)
        let whole = try await entries.order(by: \.rank).get()
        let first = try await list.page()
        // The last row of the page goes, and with it the place that the next page begins at.
        try await entries.delete(id: whole[9].id)
        let (early, late) = (Entry(id: UUID(), rank: -1), Entry(id: UUID(), rank: 9))
        try await entries.insert(early)
        try await entries.insert(late)
        var found = first.models
        var page = try await list.page(after: first)
        while let current = page {
            found += current.models
            page = try await list.page(after: current)
        }
        #expect(found == whole + [late])
    }
}
