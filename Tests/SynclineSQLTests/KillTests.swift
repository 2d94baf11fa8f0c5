// A process that keeps a mirror and full-text indexes is killed at any moment: both are at an exact event, which is not before
// the last one that the process announced, and later updates continue from there.

import ChildProcesses
import Foundation
import SynclineSQL
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct KillTests {
    /// The events that a process announced.
    private struct Announced {
        var mirror: UInt64 = 0
        var text: UInt64 = 0

        /// Reads the next line; false at the end.
        mutating func read(_ child: ChildProcess) throws -> Bool {
            guard let line = child.line() else { return false }
            let words = line.split(separator: " ")
            switch words.first {
            case "updating": break
            case "mirror": mirror = try #require(UInt64(words[1]))
            case "text": text = try #require(UInt64(words[1]))
            default: Issue.record("the process printed \(line)")
            }
            return true
        }
    }

    @Test(arguments: Seeds.some(4))
    func `files are at an exact event after a kill`(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        var chance = Chance(seed: seed)
        let program = try ChildProcess.builds.appending(path: "follow-process").path
        var announced = Announced()
        for round in 0..<2 {
            let child = try ChildProcess(program, [directory.path, "\(seed * 2 + UInt64(round))"], variables: [:])
            for _ in 0..<chance.below(36) {
                let isThere = try announced.read(child)
                #expect(isThere, "the process ended by itself")
            }
            child.kill()
            #expect(child.wait() == -9)
            while try announced.read(child) {}
            try await check(directory.path, announced, "seed \(seed), round \(round)")
        }
    }

    private func check(_ directory: String, _ announced: Announced, _ comment: String) async throws {
        let database = try await SyncDatabase.open(at: directory + "/store")
        let mirror = directory + "/mirror.sqlite"
        let text = directory + "/store/derived/text.sqlite"
        let mirrored = try await FollowingFiles.checkMirror(
            mirror, database, comment, mayBeNew: announced.mirror == 0)
        #expect(mirrored ?? 0 >= announced.mirror, "\(comment)")
        let indexed = try await FollowingFiles.checkText(text, database, comment, mayBeNew: announced.text == 0)
        #expect(indexed ?? 0 >= announced.text, "\(comment)")
        // Later updates continue from there.
        #expect(try await SQLMirror(database, at: mirror).update() == database.lastEvent)
        _ = try await FullText(database, [FullTextIndex("item", columns: ["text"])]).update()
        try await FollowingFiles.checkMirror(mirror, database, comment + ", afterwards")
        try await FollowingFiles.checkText(text, database, comment + ", afterwards")
        try await database.close()
    }
}
