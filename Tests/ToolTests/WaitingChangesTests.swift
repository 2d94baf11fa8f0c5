// What the tool shows of the changes of followers, and what it does with them.

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
        try await follower.rows(of: "todoitem").update(["id": "w", "text": "rye bread"])
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

    @Test func `they are listed with what is pending, and one that stays can be dropped`() async throws {
        let log = try await store()
        let listed = try await Call.tool("pending", "--json", on: log).array().filter {
            $0["state"] as? String == "waiting"
        }
        #expect(listed.map { $0["kind"] as? String } == ["insert", "delete", "update"])
        #expect(listed.map { $0["id"] as? String } == ["w", "c", "w"])
        // Its table is not declared any more when it is taken in.
        let app = try await SyncDatabase.open(at: log.path)
        let follower = try await SyncDatabase.follow(at: log.path)
        try await follower.rows(of: "other").insert(["id": "x"])
        try await app.setStrictTables(["todoitem"])
        try await app.close()
        #expect(await Call.tool("insert", "todoitem", #"{"id":"y"}"#, on: log).exit == .done)
        let left = try await Call.tool("pending", "--json", on: log).array().filter {
            $0["state"] as? String == "waiting"
        }
        let address = try #require(left.first?["address"] as? String)
        #expect(left.count == 1 && left[0]["table"] as? String == "other")
        #expect(await Call.tool("drop", address, on: log).exit == .done)
        #expect(await Call.tool("drop", address, on: log).exit == .no)
        #expect(await Call.tool("inspect", on: log).output.contains("waiting") == false)
        try await follower.close()
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

    @Test func `a rescue names the files that can't be read, and then it is not whole`() async throws {
        let log = try await store()
        let folder = log.path + "/tributaries"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        try Data("not changes".utf8).write(to: URL(fileURLWithPath: folder + "/" + names[0]))
        try FileManager.default.removeItem(atPath: folder + "/" + names[1])
        try FileManager.default.createDirectory(atPath: folder + "/" + names[1], withIntermediateDirectories: false)
        let damage = try await Call.tool("verify", "--json", on: log).object()["damage"] as? [[String: Any]]
        #expect(damage?.map { $0["remedy"] as? String } == ["set-aside", "set-aside"])
        #expect(damage?.map { $0["repairable"] as? Bool } == [false, false])
        let rescued = log.path + "-rescued"
        let salvage = await Call.tool("repair", "--salvage", rescued, "--json", on: log)
        let result = try salvage.object()["salvaged"] as? [String: Any]
        #expect(salvage.exit == .no && result?["waiting"] as? Int == 0)
        #expect(result?["unreadable"] as? [String] == names.map { "tributaries/" + $0 })
        #expect(await Call.tool("repair", on: log).exit == .done)
        #expect(await Call.tool("verify", on: log).exit == .done)
    }

    @Test func `changes for another log are neither counted nor copied`() async throws {
        let log = try await store()
        let other = try await store()
        let folder = log.path + "/tributaries"
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.copyItem(atPath: other.path + "/tributaries", toPath: folder)
        // The two stores are made in the same way, so one needs another identity.
        let storage = POSIXStorage(directory: log.path)
        for name in try Tributaries.all(storage) {
            var file = try #require(try TributaryFile(name, in: storage))
            file.identity = LogIdentity(high: 1, low: 2)
            try WholeFile(name.path, in: storage).replace(with: file.bytes)
        }
        #expect(await Call.tool("inspect", on: log).output.contains("waiting") == false)
        let rescued = log.path + "-rescued"
        let salvage = await Call.tool("repair", "--salvage", rescued, on: log)
        #expect(salvage.exit == .done && !salvage.output.contains("changes of other processes"))
    }

    @Test func `a store that is open for writing is not rescued`() async throws {
        let log = try await store()
        let writer = try log.open()
        let rescued = log.path + "-rescued"
        let refused = await Call.tool("repair", "--salvage", rescued, on: log)
        #expect(refused.exit == .failed && refused.errors.contains("already has"))
        #expect(!FileManager.default.fileExists(atPath: rescued))
        try writer.close()
        #expect(await Call.tool("repair", "--salvage", rescued, on: log).exit == .done)
    }

    @Test func `a folder in the place of a file does not stop an erasure, and a link leads nowhere`() async throws {
        let log = try await store()
        let folder = log.path + "/tributaries"
        let name = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()[0]
        try FileManager.default.removeItem(atPath: folder + "/" + name)
        try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: false)
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/" + name + "/inner"))
        let mine = log.folder.path + "/mine"
        try FileManager.default.createDirectory(atPath: mine, withIntermediateDirectories: false)
        try Data("kept".utf8).write(to: URL(fileURLWithPath: mine + "/file"))
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: mine)
        try await SyncDatabase.erase(at: log.path, force: true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: log.path) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: mine) == ["file"])
    }
}
