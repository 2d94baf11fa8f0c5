// The data of the page as JSON: the store as a whole, events, tables, the outbox, and the target of the box.

import SegmentLog
import SynclineCore
import SynclineGround

final class StudioData: Sendable {
    let events: StudioEvents
    let states: StudioStates
    let syncs: StudioSyncs
    let path: String
    /// What the page calls it.
    let name: String
    var storage: POSIXStorage { states.storage }
    private let charts = Mutex<(through: UInt64, json: JSONValue)?>(nil)
    let countedSizes = Mutex<(through: UInt64, json: JSONValue)?>(nil)
    private let waiting = Mutex<(through: UInt64, json: JSONValue)?>(nil)

    /// - Parameters:
    ///   - name: The name of its file, if it is a report.
    ///   - traffic: The recorded requests of the store.
    init(
        _ path: String, name: String? = nil, traffic: @escaping @Sendable () throws -> [TrafficSession] = { [] }
    ) throws {
        self.path = path
        self.name = name ?? path.split(separator: "/").last.map(String.init) ?? path
        let storage = POSIXStorage(directory: path)
        _ = try LogInspection(storage).catalog()
        events = StudioEvents(storage)
        states = StudioStates(storage)
        syncs = StudioSyncs(storage, traffic)
    }

    // MARK: The store

    func summary(mayWrite: Bool) throws -> JSONValue {
        let catalog = try LogInspection(storage).catalog()
        let (numbers, isComplete) = try events.advance()
        let last = try states.last
        let times = events.times
        let found = events.damage
        let damage = catalog.damage.filter { $0.remedy != .cutTail && !found.contains($0) } + found
        return [
            "store": .string(path), "name": .string(name), "first": .number(numbers.lowerBound), "last": .number(last),
            "indexed": .number(numbers.upperBound - 1), "complete": .boolean(isComplete),
            "firstTime": times.map { .number($0.first) } ?? .null,
            "lastTime": times.map { .number($0.last) } ?? .null,
            "segments": .number(catalog.segments.count), "writable": .boolean(mayWrite),
            "version": .string(synclineVersion), "tables": .array(events.tables.map(JSONValue.string)),
            "kinds": .array(EventKind.causes.map(JSONValue.string)),
            "outcomes": .array(StudioIndex.outcomes.dropFirst().map(JSONValue.string)),
            "damage": .array(damage.map { $0.json.adding(["advice": .string($0.remedy.advice)]) }),
            "gaps": .array(events.gaps.prefix(1000).map { [.number($0.lowerBound), .number($0.upperBound)] }),
        ]
    }

    /// How many operations a push would send, and how many wait for a decision; null if that can't be read.
    func counts() throws -> JSONValue {
        let last = try states.last
        if let known = waiting.withLock({ $0 }), known.through == last { return known.json }
        var json: JSONValue = ["pending": .null, "conflicts": .null]
        do {
            json = try states.read(at: nil) { state in
                let outbox = try PushCounts(state.reader)
                return ["pending": .number(outbox.toPush), "conflicts": .number(outbox.undecided)]
            }
        } catch {
            guard ToolError(error)?.code == "store-corrupt" else { throw error }
        }
        let counted = json
        waiting.withLock { $0 = (last, counted) }
        return json
    }

    // MARK: Events

    /// An event and the rows that it changed.
    func event(_ number: UInt64) throws -> JSONValue {
        try states.read(step: number) { state, step in
            guard let event = step.event else {
                return ["n": .number(number), "event": .null, "changes": [], "whole": .boolean(state.isWhole)]
            }
            let summary = EventSummary(number: step.number, event: event)
            return [
                "n": .number(step.number), "time": .number(event.time), "kind": .string(event.cause),
                "what": .string(summary.line), "event": summary.json, "whole": .boolean(state.isWhole),
                "count": .number(step.rows.count), "leftOut": .boolean(step.isLeftOut),
                "changes": .array(step.rows.prefix(200).map { $0.json() }),
            ]
        }
    }

    // MARK: Outbox

    func outbox(at event: UInt64?, skip: Int, top: Int) throws -> JSONValue {
        try states.read(at: event) { state in
            let reader = state.reader
            let outbox = try PushCounts(reader)
            let operations = try reader.outbox(skip..<(skip + top))
            return [
                "at": .number(state.through), "whole": .boolean(state.isWhole), "count": .number(outbox.all),
                "toPush": .number(outbox.toPush),
                "skip": .number(skip),
                "operations": .array(
                    operations.enumerated().map { OutboxJSON.json($1, number: skip + $0 + 1) }),
                "cursors": .array(
                    try reader.cursors().map {
                        [
                            "table": .string($0.table), "queryId": .string($0.queryID),
                            "position": .string($0.state.position), "query": .string($0.state.query),
                        ]
                    }),
            ]
        }
    }

    // MARK: Charts

    func chart() throws -> JSONValue {
        let through = try states.last
        if let known = charts.withLock({ $0 }), known.through == through { return known.json }
        let json = try StudioCharts(storage, through: through).json
        charts.withLock { $0 = (through, json) }
        return json
    }
}
