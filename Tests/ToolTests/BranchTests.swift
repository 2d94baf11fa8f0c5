// Branches: drafts beside a store that land in it once, as one transaction, or not at all.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct BranchTests {
    private func tool(_ words: String..., on log: TestLog) async -> Call { await Call.tool(words: words, on: log) }

    private func text(_ id: String, on log: TestLog, branch: String? = nil) async throws -> String? {
        let words = ["get", "todoitem", id, "--json"] + (branch.map { ["--branch", $0] } ?? [])
        return try await Call.tool(words: words, on: log).object()["text"] as? String
    }

    /// A store with a branch in which a row was changed, one inserted and one deleted.
    private func drafted() async throws -> TestLog {
        let log = try TestLog.story()
        #expect(await tool("branch", "create", "draft", on: log).output == "draft begins after @20\n")
        for words in [
            ["update", "todoitem", #"{"id":"a","text":"goat milk"}"#], ["insert", "todoitem", #"{"id":"z","n":1}"#],
            ["delete", "todoitem", "c"],
        ] {
            #expect(await Call.tool(words: words + ["--branch", "draft"], on: log).exit == .done, "\(words)")
        }
        return log
    }

    @Test func `a branch is changed apart from its store, and lands as one transaction`() async throws {
        let log = try await drafted()
        #expect(try await text("a", on: log) == "oat milk")
        #expect(try await text("a", on: log, branch: "draft") == "goat milk")
        let list = try await tool("branch", "list", "--json", on: log).array()
        #expect(list.count == 1 && list[0]["changes"] as? Int == 3 && list[0]["moved"] as? Int == 0)
        // What it began with stays when it has newer states.
        #expect(await tool("checkpoint", "--branch", "draft", on: log).exit == .done)
        #expect(await tool("compact", "--branch", "draft", on: log).exit == .done)
        let diff = await tool("branch", "diff", "draft", on: log)
        #expect(diff.exit == .no && diff.output.contains("\"oat milk\" → \"goat milk\""))
        let plan = try await tool("branch", "plan", "draft", "--json", on: log).array()
        #expect(plan.map { $0["kind"] as? String } == ["update", "delete", "insert"])
        let landed = await tool("branch", "land", "draft", on: log)
        #expect(landed.exit == .done && landed.output.contains("3 rows"), "\(landed.errors)")
        #expect(try await text("a", on: log) == "goat milk")
        #expect(await tool("get", "todoitem", "c", on: log).exit == .no)
        #expect(await tool("get", "todoitem", "z", on: log).exit == .done)
        #expect(try await tool("branch", "list", "--json", on: log).array().isEmpty)
        #expect(await tool("undo", on: log).exit == .done)
        #expect(try await text("a", on: log) == "oat milk")
    }

    @Test(arguments: [true, false])
    func `a retention never moves the state that a branch began with`(isInherited: Bool) async throws {
        let log = try TestLog.story()
        if isInherited { #expect(await tool("config", "retention", "1 events", on: log).exit == .done) }
        #expect(await tool("branch", "create", "draft", on: log).exit == .done)
        if !isInherited {
            #expect(await tool("config", "retention", "1 events", "--branch", "draft", on: log).exit == .done)
        }
        for number in 0..<3 {
            let change = #"{"id":"a","text":"milk \#(number)","n\#(number)":1}"#
            #expect(await tool("update", "todoitem", change, "--branch", "draft", on: log).exit == .done)
            #expect(await tool("compact", "--branch", "draft", on: log).exit == .done)
            #expect(await tool("checkpoint", "--branch", "draft", on: log).exit == .done)
        }
        #expect(await tool("branch", "land", "draft", on: log).output.contains("1 row"))
        #expect(try await text("a", on: log) == "milk 2")
        #expect(try await tool("get", "todoitem", "a", "--json", on: log).object()["n0"] as? Int == 1)
    }

    @Test func `a branch whose first state is lost is not landed`() async throws {
        let log = try await drafted()
        #expect(await tool("compact", "--branch", "draft", on: log).exit == .done)
        let folder = log.path + "/branches/draft/"
        let first = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".checkpoint") }.min()
        try FileManager.default.removeItem(atPath: folder + (try #require(first)))
        let refused = await tool("branch", "land", "draft", on: log)
        #expect(refused.exit == .failed && refused.errors.contains("first state is lost"), "\(refused.errors)")
        #expect(FileManager.default.fileExists(atPath: folder))
        #expect(try await text("a", on: log, branch: "draft") == "goat milk")
    }

    @Test func `a branch takes only changes of rows, and undoes only its own`() async throws {
        let log = try TestLog.story()
        #expect(await tool("insert", "todoitem", #"{"id":"own","n":1}"#, on: log).exit == .done)
        #expect(await tool("branch", "create", "draft", on: log).exit == .done)
        for words in [
            ["purge", "todoitem", "--force"], ["drop", "todoitem/own"], ["hold", "todoitem/own"],
            ["reset-cursor", "todoitem", "open"], ["resolve", "todoitem/own", "--take-server"], ["undo"],
        ] {
            let call = await Call.tool(words: words + ["--branch", "draft"], on: log)
            #expect(call.exit != .done, "\(words): \(call.output)")
        }
        #expect(await tool("insert", "todoitem", #"{"id":"own2","n":1}"#, "--branch", "draft", on: log).exit == .done)
        #expect(await tool("undo", "--branch", "draft", on: log).exit == .done)
        #expect(await tool("branch", "land", "draft", on: log).output.contains("no changes left"))
        #expect(await tool("get", "todoitem", "own", on: log).exit == .done)
    }

    @Test func `a schema that rewrites rows is refused while the store has branches`() async throws {
        let log = try await drafted()
        var configuration = SyncConfiguration()
        configuration.schema = SyncSchema(
            version: 2,
            migrations: [Migration(to: 2, steps: [.renameColumn(table: "todoitem", from: "text", to: "title")])])
        let wanted = configuration
        let error = await #expect(throws: SyncError.self) { try await SyncDatabase.open(at: log.path, wanted) }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("branches: draft") == true)
        #expect(await tool("branch", "land", "draft", on: log).exit == .done)
        try await SyncDatabase.open(at: log.path, wanted).close()
        #expect(try await tool("get", "todoitem", "a", "--json", on: log).object()["title"] as? String == "goat milk")
    }

    @Test(arguments: [true, false])
    func `a branch that can't be read does not hide the others`(isEmpty: Bool) async throws {
        let log = try await drafted()
        for name in ["another", "zero"] {
            #expect(await tool("branch", "create", name, on: log).exit == .done)
        }
        let branch = log.path + "/branches/another"
        for name in try FileManager.default.contentsOfDirectory(atPath: branch) {
            if isEmpty {
                try FileManager.default.removeItem(atPath: branch + "/" + name)
            } else if name.hasSuffix(FileName.checkpointSuffix) {
                try log.change("branches/another/" + name) { $0[600] ^= 1 }
            }
        }
        let list = await tool("branch", "list", "--json", on: log)
        #expect(list.exit == .partial && list.errors.contains("the branch another can't be read"), "\(list.errors)")
        let branches = try list.array()
        #expect(branches.map { $0["branch"] as? String } == ["another", "draft", "zero"])
        #expect(branches[0]["damage"] is String && branches[1]["changes"] as? Int == 3)
        #expect(await tool("branch", "list", on: log).output.contains("damaged"))
        #expect(await tool("branch", "drop", "another", on: log).exit == .done)
        #expect(await tool("branch", "list", on: log).exit == .done)
    }

    @Test func `landing over rows that changed in the store meanwhile is refused`() async throws {
        let log = try await drafted()
        #expect(await tool("update", "todoitem", #"{"id":"a","text":"rice milk"}"#, on: log).exit == .done)
        #expect(await tool("branch", "plan", "draft", on: log).exit == .no)
        let refused = await tool("branch", "land", "draft", "--json", on: log)
        #expect(refused.exit == .failed && refused.output.contains("branch-conflict"))
        #expect(refused.output.contains("todoitem/a") && !refused.output.contains("todoitem/z"))
        #expect(await tool("get", "todoitem", "z", on: log).exit == .no)
        #expect(await tool("branch", "land", "draft", "--over", on: log).exit == .done)
        #expect(try await text("a", on: log) == "goat milk")
    }

    @Test func `a branch that was landed and not removed is not landed again`() async throws {
        let log = try await drafted()
        let saved = log.folder.path + "/saved"
        try FileManager.default.copyItem(atPath: log.path + "/branches/draft", toPath: saved)
        #expect(await tool("branch", "land", "draft", on: log).exit == .done)
        #expect(await tool("update", "todoitem", #"{"id":"a","text":"rice milk"}"#, on: log).exit == .done)
        // As a process leaves it that dies after the transaction.
        try FileManager.default.moveItem(atPath: saved, toPath: log.path + "/branches/draft")
        #expect(try await tool("branch", "list", "--json", on: log).array().first?["landed"] as? Bool == true)
        let again = await tool("branch", "land", "draft", "--over", on: log)
        #expect(again.exit == .done && again.output.contains("no changes left"))
        #expect(try await text("a", on: log) == "rice milk")
    }

    #if os(Linux)
        @Test(arguments: ["drop", "land"])
        func `a file of a branch that can't be removed is named, and goes with the next drop`(command: String)
            async throws
        {
            let log = try await drafted()
            // The tool can't remove it, because its name is not in UTF-8.
            let name: [CChar] =
                Array("\(log.path)/branches/draft/".utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
            #expect(close(open(name, O_CREAT | O_WRONLY, 0o600)) == 0)
            let ended = await tool("branch", command, "draft", "--json", on: log)
            if command == "land" { #expect(try (ended.object()["address"] as? String)?.contains("draft.gone") == true) }
            #expect(ended.exit == (command == "drop" ? .failed : .partial), "\(ended.errors)")
            #expect((ended.output + ended.errors).contains("branches/draft.gone/\u{FFFD}"), "\(ended.output)")
            #expect(try await text("a", on: log) == (command == "drop" ? "oat milk" : "goat milk"))
            let gone = log.path + "/branches/draft.gone"
            #expect(try FileManager.default.contentsOfDirectory(atPath: gone).count <= 1)
            #expect(await tool("branch", "drop", "draft", on: log).exit == .failed)
            #expect(await tool("branch", "create", "other", on: log).exit == .failed)
            let moved: [CChar] = Array("\(gone)/".utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
            #expect(unlink(moved) == 0)
            #expect(await tool("branch", "drop", "draft", on: log).exit == .done)
            #expect(try FileManager.default.contentsOfDirectory(atPath: log.path + "/branches").isEmpty)
            #expect(await tool("branch", "drop", "draft", on: log).errors.contains("there is no branch"))
        }
    #endif

    /// Rows with an id, without one, and too deep: what a server sends once.
    struct OddServer: HTTPTransport {
        func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
            let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
            let good = #"{"id":"a","version":"9","text":"bread","updatedAt":"2026-01-01T00:00:00Z"}"#
            let bad = #"{"id":"bad","n":\#(deep),"updatedAt":"2026-01-01T00:00:00Z"}"#
            var response = HTTPResponse(status: 200)
            response.body = Array(#"{"results":[\#(good),\#(bad),7],"count":3}"#.utf8)
            return response
        }
    }

    @Test func `a branch has the list of unreadable rows of its moment, and landing leaves that of the store`()
        async throws
    {
        let log = try TestLog.story()
        #expect(await tool("config", "backend", "http://127.0.0.1:9", on: log).exit == .done)
        #expect(await tool("branch", "create", "before", on: log).exit == .done)
        let pull = await Call.tool(words: ["pull", "odd", "--no-push"], on: log, transport: OddServer())
        #expect(pull.exit == .done && pull.output.contains("2 unreadable"), "\(pull.output)\(pull.errors)")
        let listed = await tool("inspect", "unreadable", "--json", on: log)
        #expect(try listed.array().count == 2)
        #expect(await tool("branch", "create", "draft", on: log).exit == .done)
        #expect(await tool("inspect", "unreadable", "--json", "--branch", "draft", on: log).output == listed.output)
        #expect(try await tool("inspect", "unreadable", "--json", "--branch", "before", on: log).array().isEmpty)
        for branch in ["before", "draft"] {
            #expect(await tool("insert", "odd", #"{"id":"\#(branch)"}"#, "--branch", branch, on: log).exit == .done)
            #expect(await tool("verify", "--deep", "--branch", branch, on: log).exit == .done)
            #expect(await tool("branch", "diff", branch, "--stat", on: log).output == "1 added, 0 removed, 0 changed\n")
            let landed = await tool("branch", "land", branch, on: log)
            #expect(landed.exit == .done && landed.output.contains("1 row"), "\(landed.errors)")
        }
        #expect(await tool("inspect", "unreadable", "--json", on: log).output == listed.output)
        #expect(await tool("replay", on: log).exit == .done)
    }

    @Test func `a branch begins at any moment and is never synced`() async throws {
        let log = try TestLog.story()
        #expect(await tool("config", "backend", "http://127.0.0.1:9", on: log).exit == .done)
        #expect(await tool("branch", "create", "past", "--at", "@4", on: log).exit == .done)
        #expect(try await text("a", on: log, branch: "past") == "milk")
        for words in [["push"], ["pull", "todoitem"], ["sync"]] {
            let call = await Call.tool(words: words + ["--branch", "past"], on: log)
            #expect(call.exit == .failed && call.errors.contains("branch"), "\(words): \(call.errors)")
        }
        #expect(await tool("branch", "create", "past", on: log).exit == .failed)
        #expect(await tool("branch", "create", "../x", on: log).exit == .usage)
        let missing = await tool("get", "todoitem", "a", "--branch", "pasd", on: log)
        #expect(missing.exit == .failed && missing.errors.contains("Did you mean `past`?"))
        #expect(await tool("branch", "drop", "past", on: log).exit == .done)
        #expect(try FileManager.default.contentsOfDirectory(atPath: log.path + "/branches").isEmpty)
    }

    @Test func `a branch can have branches, and an erased store has none`() async throws {
        let log = try await drafted()
        #expect(await tool("branch", "create", "inner", "--branch", "draft", on: log).exit == .done)
        let change = #"{"id":"a","text":"soy"}"#
        let inner = log.path + "/branches/draft/branches/inner"
        #expect(await tool("update", "todoitem", change, "-s", inner, on: log).exit == .done)
        #expect(await tool("branch", "land", "inner", "--branch", "draft", on: log).exit == .done)
        #expect(try await text("a", on: log, branch: "draft") == "soy")
        #expect(try await text("a", on: log) == "oat milk")
        #expect(await tool("verify", "--branch", "draft", on: log).exit == .done)
        #expect(await tool("verify", on: log).exit == .done)
        #expect(await tool("erase", "--force", on: log).exit == .done)
        #expect(!FileManager.default.fileExists(atPath: log.path + "/branches"))
    }
}
