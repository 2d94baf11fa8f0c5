// The commands of a replay session: one table from which lines are read, completed and explained.

import SynclineCore

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
        case .next: "go to the next event, or N events forward"
        case .back: "go one event back, or N events back"
        case .go: "go to an event; @-1 is the last"
        case .first: "go to the beginning"
        case .last: "go to the end"
        case .run: "continue until a watched value changes"
        case .reverse: "go back to just before a watched value last changed"
        case .watch: "watch a row, a field (TodoItem/7f3a.title) or a condition; list the watches"
        case .unwatch: "remove a watch; without a number, all watches"
        case .rows: "list the tables, or the rows of one"
        case .row: "show everything stored for a row"
        case .outbox: "show the operations, with their changes"
        case .help: "show this list"
        case .quit: "end the session"
        }
    }

    /// The command of a line, by its word or the beginning of it, and the rest of the line.
    static func parse(_ line: String) throws(ToolError) -> (StepperCommand, String) {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let word = parts.first ?? ""
        let rest = parts.count > 1 ? parts[1][...].trimmingSpaces() : ""
        if let command = StepperCommand(rawValue: word) { return (command, rest) }
        if let command = allCases.first(where: { !word.isEmpty && $0.rawValue.hasPrefix(word) }) {
            return (command, rest)
        }
        throw .usage(
            "there is no command `\(escaped(word))` here",
            hint: Suggestion.nearest(to: word, in: allCases.map(\.rawValue)).map { "Did you mean `\($0)`?" }
                ?? "`help` lists the commands.")
    }

    static func completions(of line: String) -> [String] {
        line.contains(" ") ? [] : allCases.map(\.rawValue).filter { $0.hasPrefix(line) }
    }
}
