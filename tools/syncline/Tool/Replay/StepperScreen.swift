// The screen of a replay session at its position: the event, its changes, the outbox, and the watches.

import SynclineCore

struct StepperScreen {
    let session: ReplaySession
    let watches: [Watch]
    let style: TextStyle
    /// The number of elements shown of a long list.
    private static let limit = 12

    func lines() throws -> [String] {
        var lines = event
        lines += try outbox()
        if !watches.isEmpty {
            lines.append(style.paint("watches", .heading))
            for (index, watch) in watches.enumerated() {
                lines.append("  \(index + 1)  \(escaped(watch.text)) = \(escaped(try watch.value(session.reader)))")
            }
        }
        return lines.map { style.hasColour ? $0 : style.cut($0, to: style.width ?? .max) }
    }

    private var event: [String] {
        let place = "@\(session.through) of @\(session.last)"
        guard let step = session.step else { return [style.paint(place, .heading) + "  the beginning"] }
        let summary = EventSummary(number: step.number, event: step.event)
        var lines = [
            style.paint(place, .heading) + "  \(style.paint(summary.time, .dim))  \(step.event.cause)  "
                + escaped(summary.line)
        ]
        for row in step.changes.rows.prefix(StepperScreen.limit) {
            let difference = step.changes.difference(of: row)
            let word = difference.isEmpty ? "unseen" : difference.change
            let role: TextRole = difference.before == nil ? .good : difference.after == nil ? .bad : .warning
            lines.append("  \(style.paint(word, role)) \(escaped("\(row.table)/\(row.id)"))\(row.note)")
            lines += difference.shownFields().map { "    \($0.name): \($0.before) → \($0.after)" }
        }
        if step.changes.rows.count > StepperScreen.limit {
            lines.append("  … and \(step.changes.rows.count - StepperScreen.limit) more rows")
        }
        if step.changes.rows.isEmpty { lines.append("  no row changed") }
        return lines
    }

    private func outbox() throws -> [String] {
        let operations = try PushPlan(session.reader).operations
        var lines = [style.paint("outbox", .heading) + "  " + counted(UInt64(operations.count), "operation")]
        for (index, operation) in operations.prefix(StepperScreen.limit).enumerated() {
            lines.append(
                "  ~\(index + 1)  \(operation.kind)  \(operation.state.rawValue)  "
                    + escaped("\(operation.table)/\(operation.id)"))
        }
        if operations.count > StepperScreen.limit { lines.append("  …") }
        return lines
    }

    /// An operation with its changes.
    static func lines(_ report: CollapsedOperation, number: Int) -> [String] {
        let operation = report.operation
        return [
            "~\(number)  \(operation.kind)  \(operation.state.rawValue)  "
                + escaped("\(operation.table)/\(operation.id)") + "  " + report.place
        ]
            + report.changes.map { change in
                "  @\(change.position.event)  \(change.kind)  \(escaped(change.columns.joined(separator: ", ")))  "
                    + "(\(change.rule))"
            }
    }

    /// The same for a program.
    func json() throws -> JSONValue {
        let operations = try PushPlan(session.reader).operations
        var event = JSONValue.null
        if let step = session.step { event = EventSummary(number: step.number, event: step.event).json }
        let differences = session.step.map { step in step.changes.rows.map { step.changes.difference(of: $0) } } ?? []
        return [
            "through": .string("@\(session.through)"), "event": event,
            "changes": .array(differences.map { $0.json() }),
            "pending": .number(operations.count),
            "watches": .array(
                try watches.map {
                    ["watch": .string($0.text), "value": .string(try $0.value(session.reader))]
                }),
        ]
    }
}

extension RowChange {
    /// Changes to the row that are not visible to the app.
    fileprivate var note: String {
        let (before, after) = (self.before?.pending?.frozen, self.after?.pending?.frozen)
        switch (before?.status, after?.status) {
        case (nil, .inFlight?): return "  frozen: being sent"
        case (.inFlight?, nil): return "  answered"
        case (_, .conflict?) where before?.status != .conflict: return "  conflict: \(after?.code ?? "")"
        case (_, .parked?) where before?.status != .parked: return "  parked"
        case (.conflict?, nil), (.parked?, nil): return "  decided"
        default: return ""
        }
    }
}
