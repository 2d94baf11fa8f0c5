// The last push and the last page of each query, as the newest events tell. Pure: it reads no clock and no file.

import SynclineCore
import SynclineGround

/// What a log knows of the newest syncs. A push that had nothing to send and a pull that brought nothing new leave no
/// event, and no event says that a pull ended.
struct LastSyncs {
    /// The operations that were sent until each had its answer, or until the store was closed.
    struct Push {
        var events: ClosedRange<UInt64>
        /// When the first was sent; nil if that is in an earlier event.
        var sent: Int64?
        /// When the last event of it was written.
        var until: Int64
        /// How many operations ended in each way, in the order of `Push.outcomes`.
        var counts: [String: Int] = [:]
        /// The operations that have no answer.
        var unanswered: Set<String> = []

        static let outcomes = ["done", "decided", "conflict", "parked", "not received", "failing", "interrupted"]
    }

    /// The newest page of a query, or of the pulls of a table without one.
    struct Page {
        var event: UInt64
        var time: Int64
        var table: String
        var queryID: String?
        var rows = 0
        var deleted = 0
        var unreadable = 0
    }

    private(set) var push: Push?
    private(set) var pages: [Page] = []
    private var lastAnswer: UInt64?
    private var isReopened = false

    /// Takes the next event of the log.
    mutating func add(_ event: Event, number: UInt64) {
        switch event.body {
        case .opened: isReopened = true
        case .sent(let operations):
            let ids = operations.compactMap(\.operationID)
            if !ids.isEmpty { send(ids, at: event.time, number) }
        case .answered(let answer): take(answer, at: event.time, number)
        case .resolved(let resolution): take(resolution, number)
        case .page(let page): take(page, at: event.time, number)
        default: break
        }
    }

    private mutating func send(_ ids: [String], at time: Int64, _ number: UInt64) {
        // An operation follows the answer to another at once; otherwise it begins a push.
        let continues = push.map { !$0.unanswered.isEmpty } ?? false || lastAnswer == number - 1
        if isReopened || !continues { push = Push(events: number...number, sent: time, until: time) }
        isReopened = false
        push?.unanswered.formUnion(ids)
        reach(time, number)
    }

    private mutating func take(_ answer: Answer, at time: Int64, _ number: UInt64) {
        if push == nil || isReopened {
            push = Push(
                events: number...number, sent: nil, until: time, unanswered: push?.unanswered ?? [])
        }
        isReopened = false
        push?.unanswered.remove(answer.operationID)
        if answer.outcome.goesOn, let next = answer.nextOperationID {
            push?.unanswered.insert(next)
        } else {
            push?.counts[answer.outcome.name, default: 0] += 1
        }
        lastAnswer = number
        reach(time, number)
    }

    /// A policy decides within the push.
    private mutating func take(_ resolution: Resolution, _ number: UInt64) {
        guard resolution.policy != nil, lastAnswer == number - 1, let conflicts = push?.counts["conflict"] else {
            return
        }
        push?.counts["conflict"] = conflicts == 1 ? nil : conflicts - 1
        if resolution.change == nil { push?.counts["decided", default: 0] += 1 }
        lastAnswer = number
    }

    private mutating func reach(_ time: Int64, _ number: UInt64) {
        guard let events = push?.events else { return }
        push?.events = events.lowerBound...number
        push?.until = time
    }

    private mutating func take(_ page: PulledPage, at time: Int64, _ number: UInt64) {
        pages.removeAll { $0.table.hasSameBytes(as: page.table) && $0.queryID == page.queryID }
        var newest = Page(event: number, time: time, table: page.table, queryID: page.queryID)
        newest.deleted = page.rows.count { $0.row == nil }
        newest.rows = page.rows.count - newest.deleted
        newest.unreadable = page.unreadable.count
        pages.append(newest)
    }
}

extension LastSyncs.Push {
    /// `complete`, `incomplete` if something is left to decide or to send again, or `unanswered` if an answer is missing.
    var outcome: String {
        if !unanswered.isEmpty { return "unanswered" }
        return counts.keys.contains { $0 != "done" && $0 != "decided" } ? "incomplete" : "complete"
    }

    private var named: [(name: String, count: Int)] {
        LastSyncs.Push.outcomes.compactMap { name in counts[name].map { (name, $0) } }
    }

    var json: JSONValue {
        [
            "events": .string("@\(events.lowerBound)..\(events.upperBound)"), "outcome": .string(outcome),
            "sent": .optional(sent.map { Timestamp(.init(milliseconds: $0)).description }),
            "until": .string(Timestamp(.init(milliseconds: until)).description),
            "seconds": sent.map { .number(Double(until - $0) / 1000, places: 3) } ?? .null,
            "operations": .object(named.map { .init(key: $0.name, value: .number($0.count)) }),
            "unanswered": .number(unanswered.count),
        ]
    }

    func text(now: Int64) -> String {
        let ends =
            named.map { "\($0.count) \($0.name)" } + (unanswered.isEmpty ? [] : ["\(unanswered.count) without answer"])
        let took = sent.map { ", in \(duration(until - $0))" } ?? ""
        return "\(ago(until, now: now)): \(ends.joined(separator: ", "))\(took)"
            + " (@\(events.lowerBound)" + (events.count > 1 ? "..\(events.upperBound))" : ")")
    }
}

extension LastSyncs.Page {
    var json: JSONValue {
        [
            "table": .string(table), "queryId": .optional(queryID), "event": .string("@\(event)"),
            "time": .string(Timestamp(.init(milliseconds: time)).description), "rows": .number(rows),
            "deleted": .number(deleted), "unreadable": .number(unreadable),
        ]
    }

    func text(now: Int64) -> String {
        let parts = [(rows, "row"), (deleted, "deleted row"), (unreadable, "unreadable row")]
        let shown = parts.filter { $0.0 > 0 }.map { counted(UInt64($0.0), $0.1) }
        return "\(ago(time, now: now)): \(escaped(table))\(queryID.map { "/" + escaped($0) } ?? ""), "
            + (shown.isEmpty ? "its cursor" : shown.joined(separator: ", ")) + " (@\(event))"
    }
}
