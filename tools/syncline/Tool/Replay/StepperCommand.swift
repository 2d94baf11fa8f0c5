// The words of a replay session, each with what it does: one table from which lines are read, completed and explained.

import SynclineCore
import SynclineInspect

enum StepperCommand: String, CaseIterable {
    case next, back, go, first, last, run, reverse, watch, unwatch, rows, row, outbox, help, quit

    var usage: String {
        switch self {
        case .next, .back: rawValue + " [N]"
        case .go: "go @41"
        case .run, .reverse: rawValue + " [WATCH]"
        case .watch: "watch [WATCH]"
        case .unwatch: "unwatch [N]"
        case .rows: "rows [TABLE]"
        case .row: "row TABLE/ID"
        case .first, .last, .outbox, .help, .quit: rawValue
        }
    }

    var summary: String {
        switch self {
        case .next: "folds the next event, or the next so many"
        case .back: "takes the last event back, or the last so many"
        case .go: "goes to an event; @-1 is the last"
        case .first: "goes to the beginning"
        case .last: "goes to the end"
        case .run: "goes on until something watched changes"
        case .reverse: "goes back to right before something watched last changed"
        case .watch: "watches a row, a field (TodoItem/7f3a.title) or a condition; lists what is watched"
        case .unwatch: "watches it no longer; without a number, nothing"
        case .rows: "lists the tables, or the rows of one"
        case .row: "shows all that is kept of a row"
        case .outbox: "shows the operations with the changes behind each"
        case .help: "shows this"
        case .quit: "ends the session"
        }
    }

    /// The command of a line, by its word or the beginning of it, and what stands behind it.
    static func parse(_ line: String) throws(ToolError) -> (StepperCommand, String) {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let word = parts.first ?? ""
        let rest = parts.count > 1 ? parts[1][...].trimmingSpaces() : ""
        if let command = StepperCommand(rawValue: word) { return (command, rest) }
        if let command = allCases.first(where: { !word.isEmpty && $0.rawValue.hasPrefix(word) }) {
            return (command, rest)
        }
        throw .usage(
            "there is no `\(escaped(word))` here",
            hint: Suggestion.nearest(to: word, in: allCases.map(\.rawValue)).map { "Did you mean `\($0)`?" }
                ?? "`help` lists what there is.")
    }

    static func completions(of line: String) -> [String] {
        line.contains(" ") ? [] : allCases.map(\.rawValue).filter { $0.hasPrefix(line) }
    }
}
