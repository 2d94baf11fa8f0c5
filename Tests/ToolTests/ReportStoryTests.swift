// Reports of random stores: masked and not, with this project's server and another, with retention and with damage.
// Each replays as it ran, answers what the store answers, and contains no secret.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineGround
import SynclineReports
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct ReportStoryTests {
    /// What must never occur in a masked report: in names of members and query ids, in strings and dates, as
    /// numbers.
    private static let secretNumbers: [Int64] = (0..<20).map { 471_100_000 + $0 }

    private struct Story {
        let log: TestLog
        let server: SimulatedServer
        let network: SimulatedNetwork
        let isOwn: Bool
        var hasRetention: Bool
        var file: String { log.folder.path + "/bug.jsonl" }

        /// Runs the tool with the server.
        @discardableResult func call(_ words: String...) async -> Call {
            await Call.tool(words: words, on: log, transport: network)
        }
    }

    private static func item(_ chance: inout Chance) -> [Value.Member] {
        [
            .init("text", .string("geheim\(chance.below(12))")), .init("n", .integer(chance.pick(secretNumbers))),
            .init("d", .double(Double(chance.pick(secretNumbers)) / 7)),
            .init("born", .string("1903-0\(1 + chance.below(9))-11T00:00:00.000Z")),
            .init("done", .bool(chance.once(in: 2))),
            .init("address", .object([.init("geheimkey", .string("geheim\(chance.below(5))"))])),
        ]
    }

    private static func row(_ id: String, _ chance: inout Chance) -> Value {
        .object([.init("id", .string(id))] + item(&chance))
    }

    private func tell(_ chance: inout Chance) async throws -> Story {
        let isOwn = chance.once(in: 2)
        let speaks = chance.once(in: 2) ? ServerProtocol.zumo2 : .datasync3
        var options = SimulatedServer.Options()
        (options.tellsChanges, options.takesBatches, options.recognizesOperations) = (isOwn, isOwn, isOwn)
        let server = SimulatedServer(speaks, options: options)
        server.setTable("t", rows: (0..<20).map { Self.row("r\($0)", &chance) }, pageLimit: 7)
        let log = try TestLog(empty: ())
        var story = Story(
            log: log, server: server, network: SimulatedNetwork(server), isOwn: isOwn,
            hasRetention: chance.once(in: 3))
        await story.call("init", "--protocol", speaks.rawValue, "--backend", "https://geheim.example")
        await story.call("config", "record", "8 MiB")
        if story.hasRetention { await story.call("config", "retention", "20 events") }
        let filter = "n ge \(chance.pick(Self.secretNumbers)) or text eq 'geheim3' or address/geheimkey eq 'geheim1'"
        let pull = ["pull", "t", "--query-id", "geheimquery", "--page-size", "5"]
        let wanted = pull + (chance.once(in: 2) ? ["--filter", filter] : [])
        _ = await Call.tool(words: wanted, on: log, transport: story.network)
        for step in 0..<(8 + chance.below(25)) {
            let id = "r\(chance.below(26))"
            let part = Array(Self.item(&chance).shuffled(using: &chance).prefix(3))
            switch chance.below(11) {
            case 0...1: await story.call("insert", "t", Self.row("new\(step)", &chance).json)
            case 2...4: await story.call("update", "t", Value.object([.init("id", .string(id))] + part).json)
            case 5: await story.call("delete", "t", id)
            case 6:
                server.upsert([Self.row(id, &chance)], in: "t")
                if chance.once(in: 3) { story.network.script([nil, .dropAnswer]) }
            case 7: await story.call("push", "--policy", chance.pick(["fail", "merge", "client-wins"]))
            case 8: await story.call("sync", "t")
            case 9:
                let database = try await SyncDatabase.open(at: log.path)
                let row = Self.row("own\(step)", &chance)
                try await database.transaction("geheim\(step)") { try $0.insert("t", row) }
                try await database.close()
            default: _ = await Call.tool(words: wanted, on: log, transport: story.network)
            }
            story.network.script([])
            if story.hasRetention, chance.once(in: 6) { await story.call("compact") }
        }
        story.hasRetention = try await story.call("log", "--json").array().first?["address"] as? String != "@1"
        return story
    }

    /// Flips a bit of a record, or removes a segment; returns whether there was one.
    private func damage(_ log: TestLog, _ chance: inout Chance) async throws -> Bool {
        let names = try log.folder.contents.filter { $0.hasSuffix(FileName.segmentSuffix) }
        guard let name = names.randomElement(using: &chance).map({ String($0.dropFirst("log/".count)) }) else {
            return false
        }
        try log.change(name) { data in
            let end = data.lastIndex { $0 != 0 } ?? 0
            if end > 8300 { data[8200 + chance.below(end - 8200)] ^= 1 } else { data[data.count / 4] ^= 1 }
        }
        return await Call.tool("verify", on: log).exit != .done
    }

    // MARK: Answers

    private func rows(_ store: String) async throws -> [[String: Any]] {
        try await Call.tool("export", "--json", "-s", store).array()
    }

    /// The answers of a store and its report to one question, without values.
    private func answers(_ words: [String], _ store: String) async throws -> String {
        let answer = await Call.tool(words: words + ["--json", "-s", store])
        let value = (try? Value(json: answer.output.utf8)) ?? .null
        return "\(answer.exit) \(bare(value).json)"
    }

    /// Addresses, numbers of events and words, and nothing that is masked.
    private func bare(_ value: Value) -> Value {
        switch value {
        case .array(let elements): .array(elements.map(bare))
        case .object(let members):
            .object(
                members.compactMap { member in
                    if ["before", "after"].contains(member.name), case .string = member.value {
                        return .init(member.name, .string("…"))
                    }
                    return [
                        "address", "event", "heldBefore", "choice", "decisions", "leftOut", "impossible", "pending",
                        "before", "after", "fields", "name", "source", "differences", "change", "outcome", "changes",
                    ].contains(member.name) ? .init(member.name, bare(member.value)) : nil
                })
        case .string(Masking.words): .string("…")
        case .string(let text): .string(text.hasPrefix("@") || text.count < 14 && !text.contains("geheim") ? text : "…")
        default: .null
        }
    }

    @Test(arguments: Seeds.some(24)) func `a report runs again, answers as the store does, and contains no secret`(
        seed: UInt64
    ) async throws {
        var chance = Chance(seed: seed &* 977 &+ 5)
        let story = try await tell(&chance)
        let isDamaged = chance.once(in: 4) ? try await damage(story.log, &chance) : false
        let flags = chance.pick([
            ["--no-mask"], [], [], ["--mask-ids"], ["--mask-names"], ["--mask-ids", "--mask-names"],
        ])
        let made = await Call.tool(words: ["report", "-o", story.file, "--json"] + flags, on: story.log)
        let what = "seed \(seed) \(flags) own \(story.isOwn) retention \(story.hasRetention) damaged \(isDamaged)"
        #expect(made.exit == .done || isDamaged && made.exit == .no, "\(what): \(made.errors)")
        guard made.exit == .done || made.exit == .no else { return }
        let sessions = try made.object()["sessions"] as? Int ?? 0
        #expect(sessions > 0 || story.hasRetention || isDamaged, "\(what)")
        let again = await Call.tool("replay", story.file, "--json")
        #expect(again.exit == .done, "\(what): \(again.output) \(again.errors)")
        #expect(await Call.tool("verify", "--store", story.file).exit == .done, "\(what)")
        if !flags.contains("--no-mask") { try await expectNoSecret(story, what) }
        var store = story.log.path
        if isDamaged {
            // The report answers as the store does that a salvage makes.
            store = story.log.folder.path + "/rescued"
            let salvage = await Call.tool("repair", "--salvage", store, on: story.log)
            #expect(salvage.exit == .done || salvage.exit == .no, "\(what): \(salvage.errors)")
        } else {
            try expectSameState(story, flags, what)
        }
        try await expectSameAnswers(store, story.file, flags, &chance, what)
    }

    /// A masked state is what the masked events fold to.
    private func expectSameState(_ story: Story, _ flags: [String], _ what: String) throws {
        let storage = POSIXStorage(directory: story.log.path)
        let (start, end) = (try StateLoader(storage).earliest(), try StateLoader(storage).load())
        var options = Masking.Options()
        (options.ids, options.names) = (flags.contains("--mask-ids"), flags.contains("--mask-names"))
        let masking = Masking(options, of: start)
        func visit() throws -> (start: Projector, events: [Event], end: Projector) {
            var events: [Event] = []
            try EventWalk(storage).forEach(from: start.through + 1) { _, event in
                events.append(masking.mask(event))
                return true
            }
            return (try masking.mask(start), events, try masking.mask(end))
        }
        _ = try visit()
        masking.close()
        let masked = try visit()
        for (index, event) in masked.events.enumerated() {
            try masked.start.apply(event, number: start.through + 1 + UInt64(index))
        }
        masked.start.store.endCommit()
        #expect(masked.start.store.digest == masked.end.store.digest, "\(what)")
        #expect(masked.start.totals == masked.end.totals, "\(what)")
    }

    private func expectSameAnswers(
        _ store: String, _ report: String, _ flags: [String], _ chance: inout Chance, _ what: String
    ) async throws {
        let (mine, theirs) = (try await rows(store), try await rows(report))
        #expect(mine.count == theirs.count, "\(what)")
        guard mine.count == theirs.count, !mine.isEmpty else { return }
        for _ in 0..<6 {
            let place = chance.below(mine.count)
            func parts(_ row: [String: Any]) throws -> (table: String, id: String, filters: [String]) {
                let content = try #require(row["row"] as? [String: Any])
                let names = try columns(of: row, like: mine[place])
                var filters: [String] = []
                for (column, plain) in zip(names, ["text", "n", "d", "born"]) {
                    switch content[column] {
                    case let text as String where plain == "born":
                        filters.append("\(column) le datetime'\(text)'")
                    case let text as String: filters.append("\(column) eq '\(text)'")
                    case let number as NSNumber: filters.append("\(column) ge \(number)")
                    default: filters.append("\(column) eq null")
                    }
                }
                return (try #require(row["table"] as? String), try #require(content["id"] as? String), filters)
            }
            let (left, right) = (try parts(mine[place]), try parts(theirs[place]))
            let index = chance.below(4)
            let shapes: [((table: String, id: String, filters: [String])) -> [String]] = [
                { ["blame", "\($0.table)/\($0.id)"] },
                { ["replay", "--bisect", "\($0.table)/\($0.id): \($0.filters[index])"] },
                { ["replay", "--bisect", "count(\($0.table): \($0.filters[index])) ge 3", "--from", "@1"] },
                { _ in ["replay", "--bisect", "pending gt 2", "--from", "@1"] },
                { _ in ["replay", "--policy", "client-wins"] }, { _ in ["replay", "--policy", "server-wins"] },
            ]
            let shape = shapes[chance.below(shapes.count)]
            let (before, after) = (
                try await answers(shape(left), store), try await answers(shape(right), report)
            )
            if flags.contains("--mask-names") {
                #expect(
                    before.filter(\.isNumber) == after.filter(\.isNumber), "\(what): \(shape(left)) \(shape(right))")
            } else {
                #expect(before == after, "\(what): \(shape(left)) \(shape(right))")
            }
        }
    }

    /// The names of four columns in a row of a report, which has its columns in the order of the store's.
    private func columns(of row: [String: Any], like other: [String: Any]) throws -> [String] {
        guard let names = row["row"] as? [String: Any], names["text"] == nil else { return ["text", "n", "d", "born"] }
        // Masked names sort as the names do: address, born, d, done, n, text, and those of the server stay.
        let sorted = names.keys.filter { $0 != "id" && !["createdAt", "updatedAt", "version", "deleted"].contains($0) }
            .sorted()
        let plain = (other["row"] as? [String: Any] ?? [:]).keys
            .filter { ["address", "born", "d", "done", "n", "text"].contains($0) }.sorted()
        let found = Dictionary(zip(plain, sorted)) { first, _ in first }
        return ["text", "n", "d", "born"].map { found[$0] ?? "none" }
    }

    private func expectNoSecret(_ story: Story, _ what: String) async throws {
        let text = try String(contentsOfFile: story.file, encoding: .utf8)
        var found = text + (await Call.tool("export", "--format", "events", "--store", story.file)).output
        found += (await Call.tool("export", "--format", "sql", "--store", story.file)).output
        for line in text.split(separator: "\n") {
            guard let value = try? Value(json: line.utf8) else { continue }
            for name in ["record", "entries"] {
                guard case .string(let coded)? = value[member: name], let bytes = Base64.decode(coded) else { continue }
                found += String(decoding: bytes, as: UTF8.self)
            }
            guard let exchange = RecordedExchange(value) else { continue }
            found += String(decoding: exchange.request.body ?? [], as: UTF8.self)
            if case .response(let response) = exchange.outcome {
                found += String(decoding: response.body, as: UTF8.self)
            }
        }
        for secret in ["geheim", "4711000", "673000", "1903-"] {
            #expect(!found.contains(secret), "\(what): \(secret)")
        }
    }
}
