// The state of a store as a page for people and as JSON: what is wrong, and what to do next.

import Foundation
import Syncline

extension StoreStatus.Outbox {
    /// Its numbers, the most important first, with the names that JSON has for them.
    private var operations: [(state: String, count: Int, noun: String)] {
        [
            ("toPush", toPush, "to push"), ("conflict", conflicts, "in conflict"),
            ("parked", refused, "refused by the server"), ("held", held, "held"),
            ("after", after, "after one of these"),
            ("waiting", ofOtherProcesses, "of other processes, not taken in"),
        ]
    }

    var json: JSONValue { .object(operations.map { .init(key: $0.state, value: .number($0.count)) }) }

    func text(_ style: TextStyle) -> String {
        let waiting = operations.filter { $0.count > 0 }.map { "\(style.count($0.count)) \($0.noun)" }
        return waiting.isEmpty ? "empty" : waiting.joined(separator: ", ")
    }
}

extension StoreStatus {
    /// What is wrong, the most urgent first.
    var findings: [String] {
        let found = [
            (files.damage, "place of damage", "places of damage"),
            (undecided, "operation waits for a decision", "operations wait for a decision"),
            (lastPush?.unanswered ?? 0, "operation has no answer", "operations have no answer"),
            (outbox.ofOtherProcesses, "change of another process waits", "changes of other processes wait"),
            (unreadable, "row of the server can't be read", "rows of the server can't be read"),
            (cursors.count(where: \.isAhead), "cursor is ahead of the clock", "cursors are ahead of the clock"),
            (unfit, "value does not fit its column", "values do not fit their columns"),
        ]
        return found.filter { $0.0 > 0 }.map { counted(UInt64($0.0), $0.1, $0.2) }
    }

    /// What to do, the most urgent first.
    var next: [(command: String, effect: String)] {
        var next: [(String, String)] = []
        if files.damage > 0 { next.append(("syncline verify", "check every frame, and say what to do")) }
        if undecided > 0 {
            next.append(("syncline conflicts", "list the operations that wait for a decision"))
        }
        if backend == nil {
            next.append(("syncline config backend https://…", "set the server to push to and pull from"))
        } else if outbox.toPush > 0 {
            next.append(("syncline push", "send \(counted(UInt64(outbox.toPush), "operation"))"))
        }
        if outbox.held > 0 { next.append(("syncline release TABLE/ID", "let a push send a held row")) }
        if outbox.ofOtherProcesses > 0 { next.append(("syncline pending", "list the changes of other processes")) }
        if unreadable > 0 { next.append(("syncline inspect unreadable", "list the server's rows that can't be read")) }
        return next
    }
}

// MARK: JSON

extension StoreStatus {
    func json(of path: String, _ branches: [String] = []) -> JSONValue {
        [
            "store": .string(path), "backend": .optional(backend), "protocol": .optional(dialect),
            "schema": .number(Int(schema)), "event": .string("@\(lastEvent)"), "time": .optional(lastDate?.text),
            "healthy": .boolean(findings.isEmpty), "findings": .array(findings.map(JSONValue.string)),
            "outbox": outbox.json,
            "unreadable": .number(unreadable), "lastPush": lastPush?.json ?? .null,
            "lastPages": .array(lastPages.map(\.json)), "searched": .string("@\(searchedFrom)"),
            "cursors": .array(cursors.map { JSONValue(cursor: ($0.table, $0.queryID, $0.state)) }),
            "history": ["first": .string("@\(firstEvent)"), "since": .optional(firstDate?.text)],
            "log": [
                "segments": .number(files.segments), "bytes": .number(files.bytes),
                "checkpoints": .number(files.checkpoints), "checkpointBytes": .number(files.checkpointBytes),
                "newestCheckpoint": .optional(files.newestCheckpoint.map { "@\($0)" }),
                "damage": .number(files.damage),
            ],
            "branches": .array(branches.map(JSONValue.string)), "tables": .array(tables.map(\.json)),
            "next": .array(next.map { ["command": .string($0.command), "effect": .string($0.effect)] }),
        ]
    }
}

// MARK: Text

extension StoreStatus {
    /// - Parameter now: The time that ages are counted from, in milliseconds since 1970.
    func lines(of path: String, _ branches: [String], _ style: TextStyle, now: Int64) -> [String] {
        var lines = facts(of: path, branches, style, now: now).map {
            style.paint($0.0.padded(to: 12), .dim) + style.paint($0.1, $0.2)
        }
        if !tables.isEmpty { lines.append("") }
        lines += tables.map { table in
            style.paint(escaped(table.name), .heading) + "  " + counted(UInt64(table.rows), "row")
                + (table.columns.isEmpty ? "" : "  " + table.columnText)
        }
        if !next.isEmpty { lines.append("") }
        return lines + next.map { "  " + style.paint(escaped($0.command), .heading) + "  " + $0.effect }
    }

    private func facts(
        of path: String, _ branches: [String], _ style: TextStyle, now: Int64
    ) -> [(String, String, TextRole)] {
        func moment(_ date: Date?) -> String { date.map { ", written \(ago($0.milliseconds, now: now))" } ?? "" }
        var facts: [(String, String, TextRole)] = [
            ("store", escaped(path), .plain),
            ("server", backend.map { escaped($0) + (dialect.map { " (\($0))" } ?? "") } ?? "none", .plain),
            (
                "health", findings.isEmpty ? "good" : findings.joined(separator: ", "),
                findings.isEmpty ? .good : .warning
            ),
            ("outbox", outbox.text(style), .plain),
        ]
        facts.append(("last push", lastPush?.text(now: now) ?? unknown("request"), .plain))
        for page in lastPages { facts.append(("last page", page.text(now: now), .plain)) }
        if lastPages.isEmpty { facts.append(("last page", unknown("page"), .plain)) }
        for cursor in cursors {
            let name = escaped("\(cursor.table)/\(cursor.queryID)")
            let query = cursor.state.query.isEmpty ? "" : ", " + escaped(cursor.state.query)
            facts.append(("cursor", "\(name) at \(escaped(cursor.state.position))\(query)", .plain))
        }
        if !branches.isEmpty { facts.append(("branches", escaped(branches.joined(separator: ", ")), .plain)) }
        facts.append(("schema", schema == 0 ? "none" : "version \(schema)", .plain))
        facts.append(("events", "through @\(lastEvent)" + moment(lastDate), .plain))
        facts.append(("history", "from @\(firstEvent)" + moment(firstDate), .plain))
        facts.append(("size", size(style), .plain))
        if unreadable > 0 {
            facts.append(("unreadable", counted(UInt64(unreadable), "row") + " of the server", .plain))
        }
        return facts
    }

    private func size(_ style: TextStyle) -> String {
        func shown(_ bytes: UInt64) -> String { style.isForPeople ? humanBytes(bytes) : "\(bytes) bytes" }
        let segments = "\(shown(files.bytes)) in \(counted(UInt64(files.segments), "segment"))"
        guard let newest = files.newestCheckpoint else { return segments + ", no checkpoint" }
        let checkpoints = counted(UInt64(files.checkpoints), "checkpoint")
        return segments + ", \(shown(files.checkpointBytes)) in \(checkpoints), the newest of @\(newest)"
    }

    /// What is said if no event tells.
    private func unknown(_ what: String) -> String {
        "no \(what) in the log" + (searchedFrom > firstEvent ? " since @\(searchedFrom)" : "")
    }
}

extension StoreStatus.Push {
    private static let outcomes = [
        "done", "decided", "conflict", "parked", "not received", "failing", "interrupted",
    ]

    private var named: [(name: String, count: Int)] {
        Self.outcomes.compactMap { name in operations[name].map { (name, $0) } }
    }

    private var duration: Int64? { begin.map { end.milliseconds - $0.milliseconds } }

    var json: JSONValue {
        [
            "events": .string("@\(first)..\(last)"), "outcome": .string(outcome.rawValue),
            "sent": .optional(begin?.text), "until": .string(end.text),
            "seconds": duration.map { .number(Double($0) / 1000, places: 3) } ?? .null,
            "operations": .object(named.map { .init(key: $0.name, value: .number($0.count)) }),
            "unanswered": .number(unanswered),
        ]
    }

    func text(now: Int64) -> String {
        let ends = named.map { "\($0.count) \($0.name)" } + (unanswered == 0 ? [] : ["\(unanswered) without answer"])
        let took = duration.map { ", in \(SynclineTool.duration($0))" } ?? ""
        return "\(ago(end.milliseconds, now: now)): \(ends.joined(separator: ", "))\(took)"
            + " (@\(first)" + (last > first ? "..\(last))" : ")")
    }
}

extension StoreStatus.Page {
    var json: JSONValue {
        [
            "table": .string(table), "queryId": .optional(queryID), "event": .string("@\(event)"),
            "time": .string(date.text), "rows": .number(rows), "deleted": .number(deleted),
            "unreadable": .number(unreadable),
        ]
    }

    func text(now: Int64) -> String {
        let parts = [(rows, "row"), (deleted, "deleted row"), (unreadable, "unreadable row")]
        let shown = parts.filter { $0.0 > 0 }.map { counted(UInt64($0.0), $0.1) }
        return "\(ago(date.milliseconds, now: now)): \(escaped(table))\(queryID.map { "/" + escaped($0) } ?? ""), "
            + (shown.isEmpty ? "its cursor" : shown.joined(separator: ", ")) + " (@\(event))"
    }
}

extension QueryCursor {
    /// Whether a row that was received is from the future, so that the next pulls miss what changes until then.
    fileprivate var isAhead: Bool { state.moment.map { $0 > state.updated + 300_000 } ?? false }
}

extension Date {
    fileprivate var text: String { Timestamp(.init(milliseconds: milliseconds)).description }
}
