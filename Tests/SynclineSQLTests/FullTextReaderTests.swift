// A reader of the full-text indexes of an app: it is right or refuses to answer, and leaves no trace.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import Testing

@testable import SynclineSQL

@Suite struct FullTextReaderTests {
    /// A folder whose name must be escaped in a URL, removed after the test.
    private func withStore(_ body: (String) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "syncline text?100%#\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    private func files(_ path: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path + "/derived") {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: path + "/derived/" + name))
        }
        return files
    }

    private func ids(_ reader: FullTextReader?, _ words: String) throws -> [String]? {
        try reader?.search("item", TextQuery(words))?.map(\.row.id)
    }

    private func reader(of database: SyncDatabase) throws -> FullTextReader? {
        FullTextReader(try database.sqlSource)
    }

    @Test func `it answers from an index that is at the event, and changes no file`() async throws {
        try await withStore { path in
            let database = try await SyncDatabase.open(at: path)
            try await database.rows(of: "item").insert(["id": "a", "text": "oat milk"])
            #expect(try reader(of: database) == nil)
            let indexes = [FullTextIndex("item", columns: ["text"])]
            try await FullText(database, indexes).update()
            let before = try files(path)
            #expect(before.keys.sorted() == ["text.sqlite"])
            #expect(try ids(reader(of: database), "mil") == ["a"])
            #expect(try ids(reader(of: database), "ilk") == [])
            #expect(try reader(of: database)?.search("other", TextQuery("milk")) == nil)
            #expect(try files(path) == before)
            // While an app has the file open, what it has written lately is in a log beside the file.
            let text = FullText(database, indexes)
            try await database.rows(of: "item").insert(["id": "b", "text": "soy milk"])
            #expect(try reader(of: database) == nil)
            #expect(try await text.update() == database.lastEvent)
            #expect(try files(path).keys.contains("text.sqlite-wal"))
            #expect(try ids(reader(of: database), "milk")?.sorted() == ["a", "b"])
            #expect(try await text.search("item", TextQuery("soy")).count == 1)
            let earlier = try database.sqlSource.at(database.lastEvent.rawValue - 1)
            #expect(FullTextReader(earlier) == nil)
            try await database.close()
        }
    }

    @Test func `a damaged file and the file of another store are not used`() async throws {
        try await withStore { path in
            let database = try await SyncDatabase.open(at: path)
            try await database.rows(of: "item").insert(["id": "a", "text": "oat milk"])
            try await FullText(database, [FullTextIndex("item", columns: ["text"])]).update()
            let file = URL(fileURLWithPath: path + "/derived/text.sqlite")
            let whole = try Data(contentsOf: file)
            try Data("nonsense".utf8).write(to: file)
            #expect(try reader(of: database) == nil)
            try whole.write(to: file)
            #expect(try reader(of: database) != nil)
            try await withStore { other in
                let stranger = try await SyncDatabase.open(at: other)
                try await stranger.rows(of: "item").insert(["id": "b", "text": "bread"])
                #expect(stranger.lastEvent == database.lastEvent)
                try FileManager.default.createDirectory(atPath: other + "/derived", withIntermediateDirectories: true)
                try whole.write(to: URL(fileURLWithPath: other + "/derived/text.sqlite"))
                #expect(try reader(of: stranger) == nil)
                try await stranger.close()
            }
            try await database.close()
        }
    }
}
