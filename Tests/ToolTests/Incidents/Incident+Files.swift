// Stores whose files are damaged, missing or of another kind.

import Foundation
import SegmentLog
import Syncline
import SynclineCore

@testable import SynclineTool

extension Incident {
    static let files = [
        Incident("a flipped bit", "status", says: "checksum is wrong") {
            try await $0.damage(frame: 0, by: 41)
        },
        Incident("a row of a damaged store", "row", ["row": "t/b"], says: "checksum is wrong") {
            try await $0.damage(frame: 0, by: 41)
        },
        Incident("a damaged checkpoint", "verify", says: ".checkpoint damaged") {
            await $0.beginChange()
            await $0.call("checkpoint")
            let name = try $0.file(".checkpoint")
            try $0.log.change(name) { $0[$0.count / 2] ^= 1 }
        },
        Incident("a damaged HEAD", "status", says: "neither slot can be read") {
            await $0.beginChange()
            try $0.log.change("HEAD") { $0 = Data(repeating: 0xee, count: $0.count) }
        },
        Incident("a torn write", "verify", says: "torn write, never acknowledged") {
            await $0.beginChange()
            let app = try $0.log.open()
            try app.append(TestLog.batch("torn"))
            let name = try $0.file(".seg")
            let end = try Data(contentsOf: $0.log.url(name)).lastIndex { $0 != 0 } ?? 0
            try $0.log.change(name) { $0[(end - 6)...] = Data(count: $0.count - end + 6) }
            withExtendedLifetime(app) {}
        },
        Incident("a missing segment", "status", says: "are missing (records @1..9)") {
            await $0.beginChange()
            let writer = try $0.log.open()
            try writer.roll()
            try writer.append(TestLog.batch("x"))
            try writer.close()
            try FileManager.default.removeItem(at: $0.log.url(TestLog.firstSegment))
        },
        Incident("an unreadable file of another process", "verify", says: "tributaries/") {
            await $0.begin()
            let follower = try await SyncDatabase.follow(at: $0.log.path)
            try await follower.rows(of: "t").insert(["id": "w"])
            try await follower.close()
            let name = try $0.file("", in: "tributaries")
            try Data("not changes".utf8).write(to: $0.log.url(name))
        },
        Incident("no store", "status", says: "error") { _ in },
        Incident("another kind of log", "status", says: "error") {
            let writer = try $0.log.open()
            try writer.append(TestLog.batch("hello"))
            try writer.close()
        },
        Incident("the history was removed", "row", ["row": "t/a.text"], says: "before the retained history begins") {
            await $0.begin()
            await $0.call("config", "retention", "1 events")
            for step in 0..<3 { await $0.change("b", "\(step)") }
            await $0.call("compact")
        },
    ]
}

extension Asking {
    /// The first file with a suffix, by its path in the store.
    func file(_ suffix: String, in folder: String = "") throws -> String {
        let all = try log.folder.contents.filter { $0.hasPrefix("log/" + folder) }.map { String($0.dropFirst(4)) }
        guard let name = all.first(where: { $0.hasSuffix(suffix) && $0 != folder }) else {
            throw ToolErrorOfTest.noFile
        }
        return name
    }

    /// A store with a damaged frame; it is not the last one.
    func damage(frame number: Int, by distance: Int) async throws {
        await beginChange()
        let frames = try await call("inspect", "frames", "--json").array().filter { $0["kind"] as? String == "data" }
        guard let address = frames[number]["address"] as? String,
            let offset = address.split(separator: ":").last.flatMap({ Int($0) })
        else { throw ToolErrorOfTest.noFile }
        try log.change(try file(".seg")) { $0[offset + distance] ^= 1 }
    }
}

enum ToolErrorOfTest: Error { case noFile }
