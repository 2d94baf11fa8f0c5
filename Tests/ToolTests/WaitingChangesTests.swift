// What the tool shows and does of changes that processes made which follow a store.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct WaitingChangesTests {
    /// A store with two files of one process, three changes in all.
    private func store() async throws -> TestLog {
        let log = try TestLog.story()
        let follower = try await SyncDatabase.follow(at: log.path)
        try await follower.transaction { transaction in
            try transaction.insert("todoitem", ["id": "w", "text": "bread"])
            try transaction.delete("todoitem", id: "c")
        }
        try await follower.table("todoitem").update(["id": "w", "text": "rye bread"])
        try await follower.close()
        return log
    }

    private func text(in store: String) async throws -> String? {
        try await Call.tool("get", "todoitem", "w", "--json", "-s", store).object()["text"] as? String
    }

    @Test func `they are shown, named in a report, and made by the next command that changes the store`() async throws {
        let log = try await store()
        let summary = await Call.tool("inspect", on: log).output
        #expect(summary.contains("waiting      3 changes in 2 files of process "))
        let waiting = try await Call.tool("inspect", "--json", on: log).object()["waiting"] as? [[String: Any]]
        #expect(waiting?.count == 1 && waiting?[0]["files"] as? Int == 2 && waiting?[0]["changes"] as? Int == 3)
        let report = await Call.tool("report", "-o", log.path + "/../waiting-report.jsonl", on: log)
        #expect(report.output.contains("3 changes of other processes wait and are not in it"))
        try FileManager.default.removeItem(atPath: log.path + "/../waiting-report.jsonl")
        #expect(await Call.tool("verify", on: log).exit == .done)
        #expect(await Call.tool("insert", "todoitem", #"{"id":"other"}"#, on: log).exit == .done)
        #expect(try await text(in: log.path) == "rye bread")
        #expect(await Call.tool("inspect", on: log).output.contains("waiting") == false)
    }

    @Test func `a damaged file is found, and set aside so that the others are made`() async throws {
        let log = try await store()
        let folder = log.path + "/tributaries"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        try Data("not changes".utf8).write(to: URL(fileURLWithPath: folder + "/" + names[0]))
        let verify = await Call.tool("verify", on: log)
        #expect(verify.exit == .no && verify.output.contains("changes of another process can't be read"))
        let repair = await Call.tool("repair", on: log)
        #expect(repair.exit == .done && repair.output.contains("moved tributaries/\(names[0]) into quarantine"))
        #expect(FileManager.default.fileExists(atPath: log.path + "/quarantine/" + names[0]))
        #expect(await Call.tool("verify", on: log).exit == .done)
    }

    @Test func `a rescue copies them`() async throws {
        let log = try await store()
        let rescued = log.path + "-rescued"
        defer { try? FileManager.default.removeItem(atPath: rescued) }
        let salvage = await Call.tool("repair", "--salvage", rescued, on: log)
        #expect(salvage.exit == .done && salvage.output.contains("copied 2 files with changes of other processes"))
        #expect(await Call.tool("insert", "todoitem", #"{"id":"other"}"#, "-s", rescued).exit == .done)
        #expect(try await text(in: rescued) == "rye bread")
    }
}
