// The state of a store on one page: its values, what is wrong, and what to do next. Pure: `StatusCommand` reads it.

import Syncline
import SynclineCore
import SynclineGround

struct StoreStatus {
    /// The files of the log.
    struct Layout {
        var segments = 0
        /// The bytes of their files.
        var bytes: UInt64 = 0
        var checkpoints = 0
        var checkpointBytes: UInt64 = 0
        var newestCheckpoint: UInt64?
        /// The first event of the history that is kept, and its time.
        var first: UInt64 = 1
        var since: Int64?
        /// Places of damage in what was read.
        var damage = 0
    }

    var path: String
    var backend: String?
    var dialect: String?
    var schema: UInt32
    /// The last event, and its time.
    var event: UInt64
    var until: Int64?
    /// How many operations of the outbox are in each state, in the order of their importance.
    var outbox: [(state: String, count: Int, noun: String)]
    var unreadable: Int
    var tables: [TableSummary]
    var cursors: [(table: String, queryID: String, state: CursorState)]
    var layout: Layout
    var syncs: LastSyncs
    /// The first event in which the last syncs were searched.
    var searched: UInt64

    private func count(_ state: String) -> Int { outbox.first { $0.state == state }?.count ?? 0 }

    private var undecided: Int { count("conflict") + count("parked") }

    /// What is wrong, the most urgent first.
    var findings: [String] {
        let unfit = tables.reduce(0) { $0 + $1.unfit.reduce(0) { $0 + $1.values } }
        let found = [
            (layout.damage, "place of damage", "places of damage"),
            (undecided, "operation waits for a decision", "operations wait for a decision"),
            (syncs.push?.unanswered.count ?? 0, "operation has no answer", "operations have no answer"),
            (count("waiting"), "change of another process waits", "changes of other processes wait"),
            (unreadable, "row of the server can't be read", "rows of the server can't be read"),
            (unfit, "value does not fit its column", "values do not fit their columns"),
        ]
        return found.filter { $0.0 > 0 }.map { counted(UInt64($0.0), $0.1, $0.2) }
    }

    /// What to do, the most urgent first.
    var next: [(command: String, effect: String)] {
        var next: [(String, String)] = []
        if layout.damage > 0 { next.append(("syncline verify", "check every frame, and say what to do")) }
        if undecided > 0 {
            next.append(("syncline conflicts", "list the operations that wait for a decision"))
        }
        if backend == nil {
            next.append(("syncline config backend https://…", "set the server to push to and pull from"))
        } else if count("toPush") > 0 {
            next.append(("syncline push", "send \(counted(UInt64(count("toPush")), "operation"))"))
        }
        if count("held") > 0 { next.append(("syncline release TABLE/ID", "let a push send a held row")) }
        if count("waiting") > 0 { next.append(("syncline pending", "list the changes of other processes")) }
        if unreadable > 0 { next.append(("syncline inspect unreadable", "list the server's rows that can't be read")) }
        return next
    }
}

// MARK: JSON

extension StoreStatus {
    private static func time(_ milliseconds: Int64?) -> JSONValue {
        .optional(milliseconds.map { Timestamp(.init(milliseconds: $0)).description })
    }

    var json: JSONValue {
        [
            "store": .string(path), "backend": .optional(backend), "protocol": .optional(dialect),
            "schema": .number(Int(schema)), "event": .string("@\(event)"), "time": StoreStatus.time(until),
            "healthy": .boolean(findings.isEmpty), "findings": .array(findings.map(JSONValue.string)),
            "outbox": .object(outbox.map { .init(key: $0.state, value: .number($0.count)) }),
            "unreadable": .number(unreadable), "lastPush": syncs.push?.json ?? .null,
            "lastPages": .array(syncs.pages.map(\.json)), "searched": .string("@\(searched)"),
            "cursors": .array(cursors.map { JSONValue(cursor: $0) }),
            "history": ["first": .string("@\(layout.first)"), "since": StoreStatus.time(layout.since)],
            "log": [
                "segments": .number(layout.segments), "bytes": .number(layout.bytes),
                "checkpoints": .number(layout.checkpoints), "checkpointBytes": .number(layout.checkpointBytes),
                "newestCheckpoint": .optional(layout.newestCheckpoint.map { "@\($0)" }),
                "damage": .number(layout.damage),
            ],
            "tables": .array(tables.map(\.json)),
            "next": .array(next.map { ["command": .string($0.command), "effect": .string($0.effect)] }),
        ]
    }
}

// MARK: Text

extension StoreStatus {
    /// - Parameter now: The time that ages are counted from, in milliseconds since 1970.
    func lines(_ style: TextStyle, now: Int64) -> [String] {
        var lines = facts(style, now: now).map { style.paint($0.0.padded(to: 12), .dim) + style.paint($0.1, $0.2) }
        if !tables.isEmpty { lines.append("") }
        lines += tables.map { table in
            style.paint(escaped(table.name), .heading) + "  " + counted(UInt64(table.rows), "row")
                + (table.columns.isEmpty ? "" : "  " + table.columnText)
        }
        if !next.isEmpty { lines.append("") }
        return lines + next.map { "  " + style.paint(escaped($0.command), .heading) + "  " + $0.effect }
    }

    private func facts(_ style: TextStyle, now: Int64) -> [(String, String, TextRole)] {
        func moment(_ time: Int64?) -> String { time.map { ", written \(ago($0, now: now))" } ?? "" }
        let waiting = outbox.filter { $0.count > 0 }.map { "\(style.count($0.count)) \($0.noun)" }
        var facts: [(String, String, TextRole)] = [
            ("store", escaped(path), .plain),
            ("server", backend.map { escaped($0) + (dialect.map { " (\($0))" } ?? "") } ?? "none", .plain),
            (
                "health", findings.isEmpty ? "good" : findings.joined(separator: ", "),
                findings.isEmpty ? .good : .warning
            ),
            ("outbox", waiting.isEmpty ? "empty" : waiting.joined(separator: ", "), .plain),
        ]
        facts.append(("last push", syncs.push?.text(now: now) ?? unknown("request"), .plain))
        for page in syncs.pages { facts.append(("last page", page.text(now: now), .plain)) }
        if syncs.pages.isEmpty { facts.append(("last page", unknown("page"), .plain)) }
        for cursor in cursors {
            let name = escaped("\(cursor.table)/\(cursor.queryID)")
            let query = cursor.state.query.isEmpty ? "" : ", " + escaped(cursor.state.query)
            facts.append(("cursor", "\(name) at \(escaped(cursor.state.position))\(query)", .plain))
        }
        facts.append(("schema", schema == 0 ? "none" : "version \(schema)", .plain))
        facts.append(("events", "through @\(event)" + moment(until), .plain))
        facts.append(("history", "from @\(layout.first)" + moment(layout.since), .plain))
        facts.append(("size", size(style), .plain))
        if unreadable > 0 {
            facts.append(("unreadable", counted(UInt64(unreadable), "row") + " of the server", .plain))
        }
        return facts
    }

    private func size(_ style: TextStyle) -> String {
        func shown(_ bytes: UInt64) -> String { style.isForPeople ? humanBytes(bytes) : "\(bytes) bytes" }
        let segments = "\(shown(layout.bytes)) in \(counted(UInt64(layout.segments), "segment"))"
        guard let newest = layout.newestCheckpoint else { return segments + ", no checkpoint" }
        let checkpoints = counted(UInt64(layout.checkpoints), "checkpoint")
        return segments + ", \(shown(layout.checkpointBytes)) in \(checkpoints), the newest of @\(newest)"
    }

    /// What is said if no event tells.
    private func unknown(_ what: String) -> String {
        "no \(what) in the log" + (searched > layout.first ? " since @\(searched)" : "")
    }
}
