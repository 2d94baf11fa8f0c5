// Stores that are exported as events and imported again: also one whose history was removed, and one where a killed
// import left files. And stores that are erased.

import Foundation
import Testing

@testable import SynclineTool

@Suite struct ExchangeTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/store" }
    private var copy: String { folder.path + "/copy" }

    init() throws { folder = try TemporaryFolder() }

    private func call(_ words: String..., input: String = "") async -> Call {
        await Call.tool(words: words + ["-s", path], input: input)
    }

    /// A store with only its newest events and with older unconfirmed changes, and its export.
    private func shortened() async throws -> String {
        #expect(await call("init").exit == .done)
        _ = await call("config", "retention", "2 events")
        for number in 0..<20 { _ = await call("insert", "t", "{\"id\":\"\(number)\",\"n\":\(number)}") }
        _ = await call("compact")
        for number in 0..<5 { _ = await call("update", "t", "{\"id\":\"\(number)\",\"n\":100}") }
        _ = await call("compact")
        _ = await call("delete", "t", "7")
        let first = await call("log", "--jsonl").output.split(separator: "\n").first ?? ""
        #expect(!first.contains(#""address":"@1""#))
        return await call("export", "--format", "events").output
    }

    @Test func `a store whose history was removed can be copied by export and import`() async throws {
        let events = try await shortened()
        let made = await Call.tool("import", "-s", copy, "--json", input: events)
        #expect(made.exit == .done && !made.output.contains("@1.."), "\(made.output)")
        for words in [
            ["log", "--jsonl"], ["export", "--format", "events"], ["export"], ["pending", "--json"],
            ["inspect", "operations"], ["blame", "t/3", "--json"],
        ] {
            let before = await Call.tool(words: words + ["-s", path])
            let after = await Call.tool(words: words + ["-s", copy])
            #expect(after.output == before.output && after.exit == before.exit, "\(words)")
        }
        #expect(await Call.tool("verify", "--deep", "-s", copy).exit == .done)
        #expect(await Call.tool("diff", path, copy).exit == .done)
        #expect(await Call.tool("undo", "-s", copy).exit == .done)
        #expect(await Call.tool("get", "t", "7", "-s", copy).exit == .done)
        #expect(await Call.tool("compact", "-s", copy).exit == .done)
        #expect(await Call.tool("verify", "--deep", "-s", copy).exit == .done)
    }

    @Test func `a salvaged store has what the other had, with its token`() async throws {
        _ = try await shortened()
        _ = await call("config", "token", "secret")
        #expect(await call("branch", "create", "draft").exit == .done)
        let salvage = await call("repair", "--salvage", copy, "--json")
        #expect(salvage.exit == .done, "\(salvage.output)")
        #expect(salvage.output.contains(#""branches":["draft"]"#))
        #expect(FileManager.default.fileExists(atPath: path + "/branches/draft"))
        for words in [["export"], ["pending", "--json"], ["log", "--jsonl"], ["blame", "t/3", "--json"]] {
            let before = await Call.tool(words: words + ["-s", path])
            let after = await Call.tool(words: words + ["-s", copy])
            #expect(after.output == before.output && after.exit == before.exit, "\(words)")
        }
        #expect(await Call.tool("verify", "--deep", "-s", copy).exit == .done)
        #expect(try String(contentsOfFile: copy + "/secrets.json", encoding: .utf8).contains("secret"))
        // Without its segments, the state of the checkpoint is left.
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".seg") {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
        let bare = folder.path + "/bare"
        let rescue = await call("repair", "--salvage", bare)
        #expect(rescue.exit == .no && rescue.output.contains("lost"), "\(rescue.output)\(rescue.errors)")
        #expect(await Call.tool("export", "-s", bare).output.contains("\"n\":100"))
        #expect(try !FileManager.default.contentsOfDirectory(atPath: folder.path).contains { $0.contains("import-") })
    }

    @Test func `an incomplete state is not imported`() async throws {
        let lines = try await shortened().split(separator: "\n")
        let entries = try #require(lines.firstIndex { $0.contains(#""entries""#) })
        let later = lines[0].replacing(#""fold":"#, with: #""fold":9"#)
        let inputs: [([Substring], String)] = [
            (Array(lines[..<entries] + lines[(entries + 1)...]), "missing or changed"),
            (Array(lines.dropFirst()), "must come before"), ([later[...]] + lines.dropFirst(), "with another format"),
            (lines + [lines[entries]], "must come before"),
        ]
        for (input, what) in inputs {
            let call = await Call.tool("import", "-s", copy, "--json", input: input.joined(separator: "\n"))
            #expect(call.exit == .failed && call.output.contains("invalid-item"), "\(what)")
            #expect(call.output.contains(what), "\(call.output)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"], "\(what)")
        }
    }

    @Test func `leftovers of a killed import are removed by the next`() async throws {
        let events = try await shortened()
        for pid in [1, Int(ProcessInfo.processInfo.processIdentifier)] {
            let draft = copy + ".import-\(pid)"
            try FileManager.default.createDirectory(atPath: draft + "/leases", withIntermediateDirectories: true)
            for name in ["LOCK", "HEAD", "leases/x.lease", "00000001-0000000000000001.seg"] {
                try Data("half".utf8).write(to: URL(filePath: draft + "/" + name))
            }
        }
        #expect(await Call.tool("import", "-s", copy, input: events).exit == .done)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["copy", "store"])
    }

    @Test func `a store is erased with what lies beside its log`() async throws {
        #expect(await call("init").exit == .done)
        _ = await call("config", "token", "secret")
        _ = await call("insert", "t", #"{"id":"a"}"#)
        let refused = await call("erase", "--json")
        #expect(refused.exit == .failed && refused.output.contains("pending-changes"))
        #expect(await call("get", "t", "a").exit == .done)
        #expect(await call("erase", "--force").output == "erased \(path)\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        let gone = await call("erase", "--force", "--json")
        #expect(gone.exit == .failed && gone.output.contains("no-store"))
        #expect(await call("init").exit == .done)
    }
}
