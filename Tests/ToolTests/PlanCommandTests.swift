// The plan of a push, and what can be done with it: operations are held, released and dropped by number or by row, and
// looked at beside a program that has the store open.

import Foundation
import Syncline
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct PlanCommandTests {
    private func states(_ log: TestLog) async throws -> [String] {
        try await Call.tool("pending", "--json", on: log).array().map {
            "\($0["id"] as? String ?? "") \($0["state"] as? String ?? "")"
        }
    }

    @Test func `an operation is held by its number and released`() async throws {
        let log = try TestLog.story()
        #expect(try await states(log) == ["b conflict", "d pending"])
        let held = await Call.tool("hold", "~2", on: log)
        #expect(held.exit == .done && held.output.contains("todoitem/d is held"))
        #expect(try await states(log) == ["b conflict", "d held"])
        #expect(try await Call.tool("hold", "--json", on: log).array().map { $0["id"] as? String } == ["d"])
        #expect(await Call.tool("why", "todoitem/d", on: log).output.contains("syncline release todoitem/d"))
        let preview = try await Call.tool("push", "--dry-run", "--json", on: log).object()
        let operations = preview["operations"] as? [[String: Any]] ?? []
        #expect(operations.map { $0["code"] as? String } == ["conflict", "held"])
        #expect(operations.allSatisfy { $0["request"] is NSNull && $0["bytes"] is NSNull })
        #expect(await Call.tool("release", "--all", on: log).output == "released todoitem/d\n")
        #expect(try await states(log) == ["b conflict", "d pending"])
        #expect(await Call.tool("release", "todoitem/d", on: log).exit == .no)
    }

    @Test func `an operation is dropped by its number`() async throws {
        let log = try TestLog.story()
        #expect(await Call.tool("drop", "~9", on: log).exit == .no)
        #expect(await Call.tool("drop", "~x", on: log).exit == .usage)
        let call = await Call.tool("drop", "~2", "--json", on: log)
        #expect(try call.object()["id"] as? String == "d")
        #expect(try await states(log) == ["b conflict"])
        // A change after the conflict is a second operation on its row.
        let change = #"{"id":"b","n":9}"#
        #expect(await Call.tool("update", "todoitem", change, on: log).exit == .done)
        let refused = await Call.tool("drop", "~2", on: log)
        #expect(refused.exit == .failed && refused.errors.contains("drops both"))
    }

    @Test func `the plan is read beside a program that has the store open`() async throws {
        let log = try TestLog.story()
        let database = try await SyncDatabase.open(at: log.path)
        try await database.rows(of: "todoitem").insert(["id": "e", "n": 1])
        for words in [["pending"], ["push", "--dry-run"], ["why", "todoitem/e"], ["hold"]] {
            let call = await Call.tool(words: words, on: log)
            #expect(call.exit == .done, "\(words): \(call.errors)")
            if words != ["hold"] { #expect(call.output.contains("todoitem/e"), "\(words)") }
        }
        #expect(await Call.tool("hold", "todoitem/e", on: log).exit == .failed)
        try await database.close()
        #expect(await Call.tool("hold", "todoitem/e", on: log).exit == .done)
    }
}
