// What is rescued of a damaged store, and what is said of the rest.

import Foundation
import SegmentLog
import Testing

@testable import SynclineTool

@Suite struct SalvageTests {
    /// A store whose files a test damages.
    private struct Store {
        let folder: TemporaryFolder
        var path: String { folder.path + "/store" }
        var rescued: String { folder.path + "/rescued" }

        init(_ options: String...) async throws {
            folder = try TemporaryFolder()
            try #require(await Call.tool(words: ["init", "-s", folder.path + "/store"] + options).exit == .done)
        }

        func call(_ words: String...) async -> Call { await Call.tool(words: words + ["-s", path]) }

        func insert(_ ids: ClosedRange<Int>) async throws {
            for id in ids {
                try #require(
                    await call("insert", "todoitem", #"{"id":"r\#(id)","text":"number \#(id)"}"#).exit == .done)
            }
        }

        func files(_ suffix: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(suffix) }.sorted()
        }

        func change(_ name: String, _ body: (inout Data) throws -> Void) throws {
            let url = URL(fileURLWithPath: path + "/" + name)
            var data = try Data(contentsOf: url)
            try body(&data)
            try data.write(to: url)
        }

        /// Cuts the last segment before the end of its last frame.
        func cutEnd(by count: Int) throws {
            try change(try #require(try files(FileName.segmentSuffix).last)) { data in
                data = data[..<((try #require(data.lastIndex { $0 != 0 })) + 1 - count)]
            }
        }

        /// Flips a bit of each checkpoint.
        func damageCheckpoints() throws {
            for name in try files(FileName.checkpointSuffix) { try change(name) { $0[600] ^= 1 } }
        }

        /// Flips a bit of the frame that holds a string.
        func flip(_ text: String) throws {
            for name in try files(FileName.segmentSuffix) {
                try change(name) { data in
                    if let place = data.range(of: Data(text.utf8)) { data[place.lowerBound] ^= 1 }
                }
            }
        }

        func config(_ store: String, _ name: String) async throws -> String? {
            try await Call.tool("config", name, "--json", "-s", store).object()[name] as? String
        }
    }

    // MARK: The end of the log

    enum HeadLoss: CaseIterable { case overwritten, missing, newestSlot }

    private func lose(_ loss: HeadLoss, _ store: Store) throws {
        switch loss {
        case .overwritten: try store.change("HEAD") { $0 = Data(repeating: 0xee, count: $0.count) }
        case .missing: try FileManager.default.removeItem(atPath: store.path + "/HEAD")
        case .newestSlot:
            try store.change("HEAD") { data in
                let generations = [8, 4104].map { place in
                    data[place..<place + 8].withUnsafeBytes { $0.load(as: UInt64.self) }
                }
                data[(generations[0] > generations[1] ? 0 : 4096) + 48] ^= 1
            }
        }
    }

    @Test(arguments: HeadLoss.allCases, [20, 0])
    func `without HEAD, records may be missing at the end`(loss: HeadLoss, cut: Int) async throws {
        let store = try await Store()
        try await store.insert(1...4)
        try lose(loss, store)
        try store.cutEnd(by: cut)
        for words in [["verify"], ["repair", "--dry-run"], ["repair", "--salvage", store.rescued], ["repair"]] {
            let call = await Call.tool(words: words + ["-s", store.path])
            #expect(!call.output.contains("never acknowledged"), "\(words): \(call.output)")
            if words == ["verify"] && loss == .newestSlot && cut == 0 { continue }
            #expect(call.exit == .no, "\(words): \(call.output)")
            #expect(call.output.contains("missing"), "\(words): \(call.output)")
        }
        // Now HEAD says again how many there are.
        #expect(await store.call("repair").exit == .done)
        #expect(await store.call("verify").exit == .done)
    }

    @Test func `a log that is closed and whole is rescued without a doubt`() async throws {
        let store = try await Store()
        try await store.insert(1...4)
        let call = await store.call("repair", "--salvage", store.rescued, "--json")
        #expect(call.exit == .done && call.output.contains(#""endIsKnown":true"#), "\(call.output)")
    }

    // MARK: Checkpoints without the history before them

    /// A store whose history begins after its first events, with a change that is not pushed.
    private func shortened() async throws -> Store {
        let store = try await Store(
            "--backend", "https://example.com", "--protocol", "datasync3", "--ids", "ignore-case")
        for (name, value) in [("retention", "1 events"), ("limits", #"{"pages":7}"#), ("tables", "todoitem")] {
            try #require(await store.call("config", name, value).exit == .done)
        }
        try await store.insert(1...3)
        try #require(await store.call("compact").exit == .done)
        try #require(await store.call("compact").exit == .done)
        try await store.insert(4...5)
        try #require(try !store.files(FileName.segmentSuffix).contains { $0.hasPrefix("00000001") })
        return store
    }

    @Test func `a store that nothing opens is not called healthy`() async throws {
        let store = try await shortened()
        try store.damageCheckpoints()
        let checkpoints = try store.files(FileName.checkpointSuffix)
        for words in [["verify"], ["repair", "--dry-run"], ["repair"], ["repair"]] {
            let call = await Call.tool(words: words + ["-s", store.path])
            #expect(call.exit == .no && !call.output.contains("healthy"), "\(words): \(call.output)")
            #expect(call.output.contains("no checkpoint of them can be read"), "\(words): \(call.output)")
        }
        #expect(try store.files(FileName.checkpointSuffix) == checkpoints, "they are not derived data")
        for name in checkpoints { try FileManager.default.removeItem(atPath: store.path + "/" + name) }
        #expect(await store.call("verify").exit == .no)
        #expect(await store.call("repair").exit == .no)
    }

    @Test func `a damaged checkpoint is set aside if another one can take its place`() async throws {
        let store = try await shortened()
        try #require(await store.call("checkpoint").exit == .done)
        let checkpoints = try store.files(FileName.checkpointSuffix)
        try #require(checkpoints.count > 1)
        try store.change(checkpoints[checkpoints.count - 1]) { $0[600] ^= 1 }
        #expect(await store.call("repair").exit == .done)
        #expect(try store.files(FileName.checkpointSuffix).count == checkpoints.count - 1)
        #expect(await store.call("get", "todoitem", "r5").exit == .done)
    }

    @Test(arguments: [true, false])
    func `settings outlive the checkpoints`(isRescuedTwice: Bool) async throws {
        let store = try await shortened()
        try store.damageCheckpoints()
        let call = await store.call("repair", "--salvage", store.rescued)
        #expect(call.exit == .no && call.output.contains("lost"), "\(call.output)\(call.errors)")
        var rescued = store.rescued
        if isRescuedTwice {
            // What was rescued is damaged in the same way.
            for name in try FileManager.default.contentsOfDirectory(atPath: rescued)
            where name.hasSuffix(FileName.checkpointSuffix) {
                try store.change("../rescued/" + name) { $0[600] ^= 1 }
            }
            rescued = store.folder.path + "/again"
            #expect(await Call.tool("repair", "--salvage", rescued, "-s", store.rescued).exit == .no)
        }
        let names = ["backend", "protocol", "retention", "ids"]
        var found: [String?] = []
        for name in names { found.append(try await store.config(rescued, name)) }
        #expect(found == ["https://example.com", "datasync3", "1 events", "ignore-case"])
        #expect(await Call.tool("config", "-s", rescued).output.contains("7"))
        let other = await Call.tool("insert", "other", #"{"id":"a"}"#, "-s", rescued, "--json")
        #expect(other.output.contains("unknown-table"))
        #expect(try await Call.tool("pending", "--json", "-s", rescued).array().count == 5)
        #expect(await Call.tool("get", "todoitem", "R2", "-s", rescued).exit == .done)
        #expect(await Call.tool("verify", "--deep", "-s", rescued).exit == .done)
    }

    @Test func `a rescue says that nothing names the settings`() async throws {
        let store = try await Store("--backend", "https://example.com", "--protocol", "datasync3")
        try await store.insert(1...3)
        try #require(await store.call("compact").exit == .done)
        try await store.insert(4...5)
        for suffix in [FileName.segmentSuffix, FileName.checkpointSuffix] {
            let files = try store.files(suffix)
            for name in suffix == FileName.segmentSuffix ? [files[0]] : files {
                try FileManager.default.removeItem(atPath: store.path + "/" + name)
            }
        }
        let call = await store.call("repair", "--salvage", store.rescued)
        #expect(call.exit == .no && call.output.contains("lost    the settings"), "\(call.output)\(call.errors)")
        let json = await store.call("repair", "--salvage", store.folder.path + "/json", "--json")
        #expect((try json.object()["salvaged"] as? [String: Any])?["settings"] as? String == "lost", "\(json.output)")
        #expect(try await store.config(store.rescued, "protocol") == nil)
    }

    // MARK: A gap

    @Test func `a rescue says which readable events are not in the new history`() async throws {
        let store = try await Store()
        try await store.insert(1...6)
        try store.flip("number 3")
        let call = await store.call("repair", "--salvage", store.rescued)
        #expect(call.exit == .no)
        #expect(call.output.contains("earlier events can be read, and listed only in the damaged store"))
        #expect(!call.errors.contains("every intact record"))
        let json = await store.call("repair", "--salvage", store.folder.path + "/json", "--json")
        let salvaged = try json.object()["salvaged"] as? [String: Any]
        let all = try await store.call("log", "--json").array().filter { $0["damage"] == nil }.count
        #expect(salvaged?["events"] as? Int == 0 && salvaged?["folded"] as? Int == all, "\(json.output) \(all)")
        for id in [1, 2, 4, 5, 6] {
            #expect(await Call.tool("get", "todoitem", "r\(id)", "-s", store.rescued).exit == .done)
        }
    }
}
