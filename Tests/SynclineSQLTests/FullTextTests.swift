// Full-text search as an app uses it.

import Foundation
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite(.timeLimit(.minutes(10))) struct FullTextTests {
    private func shop(_ tokenizer: FullTextIndex.Tokenizer = .unicode) async throws -> (SyncDatabase, FullText) {
        let database = try await SyncDatabase.open(MemoryStorage())
        let items: [Value] = [
            ["id": "a", "text": "oat milk", "tags": ["cold", "white"]],
            ["id": "b", "text": "Crème brûlée and milk, milk, milk"],
            ["id": "c", "text": "running shoes"], ["id": "d", "n": 1],
        ]
        for item in items { try await database.rows(of: "item").insert(item) }
        let index = FullTextIndex("item", columns: ["text", "tags"], tokenizer: tokenizer, prefixes: [2, 3])
        return (database, FullText(database, [index]))
    }

    private func ids(_ text: FullText, _ query: TextQuery) async throws -> [String] {
        try await text.search("item", query).map(\.row.id)
    }

    @Test func `words are found, the best match first, with a part of the text`() async throws {
        let (_, text) = try await shop()
        let matches = try await text.search("item", TextQuery("milk"))
        #expect(matches.map(\.row.id) == ["b", "a"])
        #expect(matches.map(\.rank) == matches.map(\.rank).sorted())
        #expect(matches.last?.snippet == "oat [milk]")
        #expect(matches.last?.row.columns["text"] == "oat milk")
    }

    @Test func `the last word may be a beginning`() async throws {
        let (_, text) = try await shop()
        #expect(try await ids(text, TextQuery("oat mi")) == ["a"])
        #expect(try await ids(text, TextQuery("oat mi", lastIsPrefix: false)).isEmpty)
        #expect(try await ids(text, TextQuery("CREME bru")) == ["b"])
        #expect(try await ids(text, TextQuery("white")) == ["a"])
        #expect(try await ids(text, TextQuery("  ")).isEmpty)
    }

    @Test func `what people type is never an error`() async throws {
        let (_, text) = try await shop()
        for words in ["\"", "milk\"", "(", "NOT", "a AND", "*", "c0:", "^", "\0", "'; drop table", "-milk"] {
            _ = try await ids(text, TextQuery(words))
        }
    }

    @Test func `an expression is as powerful as FTS5`() async throws {
        let (_, text) = try await shop()
        #expect(try await ids(text, TextQuery(expression: "milk NOT oat")) == ["b"])
        let error = await #expect(throws: SyncError.self) {
            _ = try await ids(text, TextQuery(expression: "milk NOT"))
        }
        #expect(error?.code == .invalidQuery && error?.message.contains("fts5") == true, "\(error as Any)")
        await #expect(throws: SyncError.self) { _ = try await text.search("list", TextQuery("milk")) }
    }

    @Test func `a second index on a table is refused`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        let text = FullText(database, [FullTextIndex("item", columns: ["a"]), FullTextIndex("item", columns: ["b"])])
        let calls: [() async throws -> Void] = [
            { _ = try await text.update() }, { _ = try await text.search("item", TextQuery("milk")) },
        ]
        for call in calls {
            let error = await #expect(throws: SyncError.self) { try await call() }
            #expect(error?.code == .invalidConfiguration && error?.hint?.contains("one index") == true)
        }
    }

    @Test func `there are tokenizers for endings and for parts of words`() async throws {
        #expect(try await ids(try await shop(.porter).1, TextQuery("run", lastIsPrefix: false)) == ["c"])
        #expect(try await ids(try await shop().1, TextQuery("run", lastIsPrefix: false)).isEmpty)
        #expect(try await ids(try await shop(.trigram).1, TextQuery("unnin")) == ["c"])
        #expect(try await ids(try await shop(.unicodeWithAccents).1, TextQuery("creme")).isEmpty)
    }

    @Test func `a search sees every commit, and can be observed`() async throws {
        let (database, text) = try await shop()
        #expect(try await ids(text, TextQuery("butter")).isEmpty)
        var results = text.observe("item", TextQuery("butter")).makeAsyncIterator()
        #expect(try await results.next()?.isEmpty == true)
        try await database.rows(of: "item").update(["id": "a", "text": "butter"])
        #expect(try await results.next()?.map(\.row.id) == ["a"])
        try await database.rows(of: "item").delete(id: "a")
        #expect(try await results.next()?.isEmpty == true)
        #expect(try await ids(text, TextQuery("oat")).isEmpty)
        try await database.close()
    }

    @Test func `the file is rebuilt if it is damaged or declared in another way, and erased with the store`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let database = try await SyncDatabase.open(at: path)
        try await database.rows(of: "item").insert(["id": "a", "text": "milk", "note": "bread"])
        #expect(
            try await ids(FullText(database, [FullTextIndex("item", columns: ["text"])]), TextQuery("milk")) == ["a"])
        try await FollowingFiles.checkText(path + "/derived/text.sqlite", database, "new")
        let both = FullText(database, [FullTextIndex("item", columns: ["text", "note"])])
        #expect(try await ids(both, TextQuery("bread")) == ["a"])
        try Data(repeating: 1, count: 5000).write(to: URL(fileURLWithPath: path + "/derived/text.sqlite"))
        #expect(try await ids(both, TextQuery("bread")) == ["a"])
        try await database.erase(force: true)
        #expect(!FileManager.default.fileExists(atPath: path + "/derived"))
    }

    @Test(arguments: 0..<UInt64(6))
    func `an index is that of the state after each of many changes`(seed: UInt64) async throws {
        var store = try await RandomStore(seed: seed)
        let text = FullText(store.database, [FullTextIndex("item", columns: ["text"])])
        for round in 0..<8 {
            try await store.live(steps: 1 + store.chance.below(8))
            for word in ["milk", "bread", "r3"] {
                let found = Set(try await ids(text, TextQuery(word, lastIsPrefix: false)))
                let rows = try await store.database.rows(of: "item").query(RowQuery(table: "item")).rows
                let wanted = rows.filter { $0.columns["text"].map { "\($0)" == word } ?? false }.map(\.id)
                #expect(found == Set(wanted), "seed \(seed), round \(round), \(word)")
            }
        }
        try await store.database.close()
    }
}
