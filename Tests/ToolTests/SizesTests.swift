// The sizes of events by kind and table: what they take of the frames adds up to the frames, and what a store writes for its
// values is never less than its files have.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineTesting
import Testing

@testable import SynclineTool

@Suite struct SizesTests {
    /// The sizes of the frames with records.
    private static func frames(_ storage: any LogStorage) throws -> (size: UInt64, large: Int) {
        var (size, large): (UInt64, Int) = (0, 0)
        try LogInspection(storage).frames(FrameSelection()) { found in
            guard case .item(let entry) = found else { return }
            if [.data, .fragment].contains(entry.summary.kind) { size += entry.summary.length.rawValue }
            if entry.summary.kind == .fragment { large += 1 }
        }
        return (size, large)
    }

    @Test func `the groups have every event and every byte of the frames once`() async throws {
        var chance = Chance(seed: 5)
        let log = try TestLog(empty: ())
        let database = try await SyncDatabase.open(at: log.path)
        for round in 0..<60 {
            let table = database.rows(of: chance.pick(["a", "b"]))
            let text = String(repeating: "x\(round)", count: chance.once(in: 12) ? 700_000 : chance.below(300))
            try await table.insert(["id": .string("r\(round)"), "text": .string(text)])
        }
        try await database.close()
        let storage = POSIXStorage(directory: log.path)
        let counts = try EventCounts(byTable: storage) { _ in Issue.record("nothing is lost") }
        let (size, large) = try Self.frames(storage)
        #expect(counts.groups.reduce(0) { $0 + $1.storedBytes } == size && large > 0)
        let events = try EventWalk(storage).last
        #expect(counts.groups.reduce(0) { $0 + $1.count } == events)
        let local = counts.groups.filter { $0.kind == "local" }
        #expect(local.map(\.subject) == [.table("a"), .table("b")] && local.reduce(0) { $0 + $1.count } == 60)
        #expect(local.allSatisfy { $0.ratio ?? 0 > 1 })
        let found = try await Call.tool("inspect", "events", "--json", on: log).array()
        #expect(found.compactMap { $0["storedBytes"] as? Int }.reduce(0, +) == Int(size))
        // The page says the same.
        let page = try StudioPageCall(log).object("sizes")["groups"] as? [[String: Any]]
        #expect(page?.map { $0 as NSDictionary } == found.map { $0 as NSDictionary })
    }

    @Test func `an event of several tables is in a group of its own, and a damaged frame leaves the rest`() async throws
    {
        func change(_ table: String) -> LocalChange { LocalChange(kind: .insert, table: table, id: "x") }
        let both = Event.Body.local(LocalTransaction([change("todoitem"), change("lists")], isGrouped: false))
        let log = try TestLog.story { $0 == 18 ? both : nil }
        let storage = POSIXStorage(directory: log.path)
        let groups = try EventCounts(byTable: storage) { _ in }.groups
        #expect(groups.contains { $0.kind == "local" && $0.subject == .several && $0.count == 1 })
        let text = await Call.tool("inspect", "events", on: log)
        #expect(text.output.contains("several"))
        try log.flip("salt", in: TestLog.firstSegment)
        let damaged = await Call.tool("inspect", "events", "--json", on: log)
        #expect(damaged.exit == .partial)
        let rest = try damaged.array()
        #expect(rest.compactMap { $0["events"] as? Int }.reduce(0, +) == Story.events.count - 1)
        #expect(rest.allSatisfy { ($0["storedBytes"] as? Int ?? 0) > 0 }, "\(rest)")
    }

    @Test func `what was written is counted from the last opening on, with its checkpoints`() async throws {
        let log = try TestLog(empty: ())
        let storage = POSIXStorage(directory: log.path)
        var before: UInt64 = 0
        var size: UInt64 = 0
        for round in 0..<3 {
            let database = try await SyncDatabase.open(at: log.path)
            for number in 0..<10 {
                try await database.rows(of: "t").insert(["id": .string("\(round)-\(number)"), "n": 1])
            }
            if round == 2 { try await database.checkpoint() }
            try await database.close()
            let opening = try EventCounts(byTable: storage) { _ in }.lastOpening
            let written = try WrittenBytes(storage, since: opening)
            #expect(written.since > before && written.since == opening)
            before = written.since
            // Ten ids of three characters and ten integers.
            #expect(written.own >= 30 && written.own < 60 && written.received == 0, "\(written)")
            let segments = try LogInspection(storage).verify().segments.reduce(0) { $0 + $1.length.rawValue }
            #expect(written.log > written.own && written.log == segments - size)
            size = segments
            #expect((written.checkpoints > 0) == (round == 2))
            #expect(try #require(written.amplification) > 1)
        }
        let found = try await Call.tool("stats", "--json", on: log).object()["written"] as? [String: Any]
        #expect(found?["since"] as? String == "@\(before)" && found?["ownValues"] as? Int ?? 0 > 0)
        #expect(await Call.tool("stats", on: log).output.contains("write amplification "))
    }

    @Test func `rows of the server are values, and a store without any has no amplification`() throws {
        let log = try TestLog.story()
        let story = try WrittenBytes(POSIXStorage(directory: log.path), since: 1)
        #expect(story.received > story.own && story.own > 0)
        let none = try TestLog(empty: ())
        try none.tell([.configured(name: "device", value: .string("D"))])
        let written = try WrittenBytes(POSIXStorage(directory: none.path), since: nil)
        #expect(written.amplification == nil && written.log > 0 && written.since == 1)
    }
}
