// A process that keeps a mirror and full-text indexes is killed at any moment: both are at an exact event, and continue
// from there. SYNCLINE_SEEDS=n kills n times.

import ChildProcesses
import Foundation
import SynclineSQL
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct KillTests {
    private static var seeds: Range<UInt64> {
        0..<(ProcessInfo.processInfo.environment["SYNCLINE_SEEDS"].flatMap(UInt64.init) ?? 4)
    }

    @Test(arguments: seeds)
    func `files are at an exact event after a kill`(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        var chance = Chance(seed: seed)
        let program = try ChildProcess.builds.appending(path: "follow-process").path
        for round in 0..<2 {
            let child = try ChildProcess(program, [directory.path, "\(seed * 2 + UInt64(round))"], variables: [:])
            for _ in 0..<chance.below(12) { _ = child.line() }
            child.kill()
            _ = child.wait()
            try await check(directory.path, "seed \(seed), round \(round)")
        }
    }

    private func check(_ directory: String, _ comment: String) async throws {
        let database = try await SyncDatabase.open(at: directory + "/store")
        let mirror = directory + "/mirror.sqlite"
        let text = directory + "/store/derived/text.sqlite"
        try await FollowingFiles.checkMirror(mirror, database, comment)
        try await FollowingFiles.checkText(text, database, comment)
        // They continue from there.
        #expect(try await SQLMirror(database, at: mirror).update() == database.lastEvent)
        _ = try await FullText(database, [FullTextIndex("item", columns: ["text"])]).update()
        try await FollowingFiles.checkMirror(mirror, database, comment + ", afterwards")
        try await FollowingFiles.checkText(text, database, comment + ", afterwards")
        try await database.close()
    }
}
