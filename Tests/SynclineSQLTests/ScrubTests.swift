// Rows that were purged are in no file that follows the store: neither as text, nor as words of an index, nor in a log of
// SQLite's.

import Foundation
import SynclineCore
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite(.timeLimit(.minutes(10))) struct ScrubTests {
    private let directory: TemporaryDirectory
    private let database: SyncDatabase
    private let text: FullText
    private let mirror: SQLMirror

    private static let secret = "zanzibar"

    init() async throws {
        directory = try TemporaryDirectory()
        database = try await SyncDatabase.open(at: directory.path + "/store")
        text = FullText(
            database, [FullTextIndex("item", columns: ["text"]), FullTextIndex("other", columns: ["text"])])
        mirror = SQLMirror(database, at: directory.path + "/mirror.sqlite")
        try await database.transaction { transaction in
            for number in 0..<50 {
                let text = Value.string("words \(number) \(number == 7 ? ScrubTests.secret : "")")
                try transaction.insert("item", ["id": .string("\(number)"), "text": text])
                try transaction.insert("other", ["id": .string("\(number)"), "text": "more words"])
            }
        }
    }

    private func update() async throws {
        try await text.update()
        try await mirror.update()
    }

    /// The files that follow the store and have the secret.
    private func filesWithSecret() throws -> [String] {
        let folders = [directory.path, directory.path + "/store/derived"]
        let paths = try folders.flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: folder).map { folder + "/" + $0 }
        }
        return try paths.filter { path in
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                return false
            }
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            // A word's beginning may be left out where it is that of the word before.
            return data.range(of: Data(ScrubTests.secret.dropFirst(3).utf8)) != nil
        }
    }

    private func contains(_ id: String) throws -> FilterExpression {
        .compare(.equal, .column("id"), .literal(.string(id)))
    }

    @Test(arguments: ["all", "one", "declared"])
    func `rows that were purged are in no file after the next update`(kind: String) async throws {
        try await update()
        #expect(try filesWithSecret().count >= 2)
        switch kind {
        case "one": try await database.purge(table: "item", filter: try contains("7"), force: true)
        case "all": try await database.purge(table: "item", force: true)
        default:
            // The indexes are made again.
            try await database.purge(table: "item", force: true)
            let other = FullText(database, [FullTextIndex("other", columns: ["text"])])
            try await other.update()
        }
        try await update()
        #expect(try filesWithSecret() == [])
        #expect(try await text.search("item", TextQuery(ScrubTests.secret)).isEmpty)
        #expect(try await text.search("other", TextQuery("more")).count == 50)
    }

    @Test func `rows that were purged while another program reads a file go with a later update`() async throws {
        try await update()
        let reader = try PlainSQLite(directory.path + "/mirror.sqlite")
        _ = try reader.run("begin")
        _ = try reader.run("select count(*) from item")
        try await database.purge(table: "item", force: true)
        try await mirror.update()
        #expect(try filesWithSecret().contains { $0.contains("mirror") })
        _ = try reader.run("commit")
        try await database.rows(of: "other").insert(["id": "new"])
        try await update()
        #expect(try filesWithSecret() == [])
    }
}
