// Scenarios: small scripted tests of a store. Those here stay local; SYNCLINE_SCENARIOS names a file of others.

import Foundation
import SynclineTesting
import Testing

@Suite struct StoryTests {
    private static let stories = #"""
        [
        {"name": "a note is written, changed and read back after a crash",
         "steps": [
            {"insert": {"table": "notes", "item": {"id": "n1", "title": "shopping", "stars": 2}}},
            {"update": {"table": "notes", "item": {"id": "n1", "stars": 3}}},
            {"crash": {}},
            {"get": {"table": "notes", "id": "n1", "row": {"title": "shopping", "stars": 3}}},
            {"pending": [{"table": "notes", "id": "n1", "kind": "insert", "fields": ["stars", "title"]}]}]},
        {"name": "what was written and thrown away leaves nothing to push, and can be brought back",
         "steps": [
            {"insert": {"table": "notes", "item": {"id": "n1"}}},
            {"delete": {"table": "notes", "id": "n1"}},
            {"pending": []},
            {"undo": {}},
            {"pending": [{"id": "n1", "kind": "insert"}]},
            {"undo": {}},
            {"undo": {"error": "operation-not-found"}}]},
        {"name": "a refused change leaves everything as it was",
         "steps": [
            {"insert": {"table": "notes", "item": {"id": "n1", "stars": 1}}},
            {"insert": {"table": "notes", "item": {"id": "n1"}, "error": "row-exists"}},
            {"insert": {"table": "notes", "item": {"id": "a/b"}, "error": "invalid-id"}},
            {"update": {"table": "notes", "item": {"stars": 1}, "error": "missing-id"}},
            {"transaction": {"operations": [
                {"update": {"table": "notes", "item": {"id": "n1", "stars": 9}}},
                {"delete": {"table": "notes", "id": "n1"}},
                {"update": {"table": "notes", "item": {"id": "n1", "__stars": 9}}}], "error": "reserved-column"}},
            {"rows": {"table": "notes", "rows": [{"id": "n1", "stars": 1}]}},
            {"purge": {"table": "notes", "error": "pending-changes"}},
            {"purge": {"table": "notes", "force": true, "removed": 1, "dropped": 1}},
            {"rows": {"table": "notes", "rows": []}}]},
        {"name": "ids are one whatever their case, in a store that says so", "ids": "ignore-case",
         "steps": [
            {"insert": {"table": "notes", "item": {"id": "Abc", "n": 1}}},
            {"update": {"table": "notes", "item": {"id": "aBC", "n": 2}}},
            {"reopen": {}},
            {"rows": {"table": "notes", "filter": "n gt 1", "rows": [{"id": "Abc", "n": 2}]}}]}
        ]
        """#

    @Test func `scenarios end as described`() async throws {
        for scenario in try Scenario.parse(Array(StoryTests.stories.utf8)) {
            #expect(await ScenarioRunner.run(scenario) == .passed, "\(scenario.name)")
        }
    }

    @Test func `scenarios of both sides end as described`() async throws {
        for scenario in try Scenario.parse(Array(SyncStories.all.utf8)) {
            #expect(await ScenarioRunner.run(scenario) == .passed, "\(scenario.name)")
        }
    }

    @Test func `the conformance scenarios pass, all of them`() async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Conformance")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        #expect(files.count == 13)
        for file in files.sorted() {
            for scenario in try Scenario.parse([UInt8](try Data(contentsOf: folder.appendingPathComponent(file)))) {
                let outcome = await ScenarioRunner.run(scenario)
                #expect(outcome == .passed, "\(file): \(scenario.name)")
            }
        }
    }

    @Test func `a scenario with a wrong expectation fails and says where`() async throws {
        let lie = #"[{"name": "a lie", "steps": [{"insert": {"table": "t", "item": {"id": "a"}}}, {"pending": []}]}]"#
        let scenario = try #require(try Scenario.parse(Array(lie.utf8)).first)
        guard case .failed(let reason) = await ScenarioRunner.run(scenario) else {
            Issue.record("it passed")
            return
        }
        #expect(reason.hasPrefix("step 2, pending: found "))
    }

    @Test(
        .enabled(if: ProcessInfo.processInfo.environment["SYNCLINE_SCENARIOS"] != nil, "SYNCLINE_SCENARIOS is not set"))
    func `external scenarios end as described, as far as they are local`() async throws {
        let path = ProcessInfo.processInfo.environment["SYNCLINE_SCENARIOS"] ?? ""
        for scenario in try Scenario.parse([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))) {
            switch await ScenarioRunner.run(scenario) {
            case .passed, .unsupported: break
            case .failed(let reason): Issue.record("\(scenario.name): \(reason)")
            }
        }
    }
}
