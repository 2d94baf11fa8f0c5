// `replay --step`: a session at a prompt that moves through the history both ways. Each command is a line. Lines can
// also come from a pipe; then everything that a screen would show is written in order.

import SegmentLog
import SynclineCore

final class Stepper {
    private let session: ReplaySession
    private let context: Context
    private let lines: LineReader
    private var watches: [Watch] = []
    /// An empty line repeats the last command.
    private var repeated = "next"

    init(_ storage: any LogStorage, _ context: Context) throws {
        session = try ReplaySession(storage)
        self.context = context
        lines = LineReader(context, history: "replay-history") { StepperCommand.completions(of: $0) }
    }

    func run(from start: UInt64?) async throws -> ExitCode {
        context.host.interrupt.listen()
        if let start { try session.seek(start) }
        try show()
        while true {
            try context.output.flush()
            guard let line = try lines.next("@\(session.through)> ") else { break }
            let text = line.isEmpty ? repeated : line
            do {
                if try perform(text) { break }
                repeated = text
            } catch let error as ToolError {
                context.narration.fail(error)
            } catch let error as SyncError {
                context.narration.fail(ToolError(error))
            }
        }
        try context.output.flush()
        return .done
    }

    /// Runs the command of a line; returns whether the session is over.
    private func perform(_ line: String) throws -> Bool {
        let (command, rest) = try StepperCommand.parse(line)
        switch command {
        case .next: try move(rest, by: 1)
        case .back: try move(rest, by: -1)
        case .go: try session.seek(try event(rest))
        case .first: try session.seek(session.first)
        case .last: try session.seek(session.last)
        case .run: try go(rest)
        case .reverse: try reverse(rest)
        case .watch:
            if rest.isEmpty { return try list() }
            watches.append(try Watch(rest, session.reader))
        case .unwatch: try unwatch(rest)
        case .rows: return try rows(rest)
        case .row: return try row(rest)
        case .outbox: return try outbox()
        case .help: return try help()
        case .quit: return true
        }
        try show()
        return false
    }

    private func event(_ text: String) throws -> UInt64 {
        switch Address(text.hasPrefix("@") ? text : "@" + text) {
        case .records(.number(let number))?: return number.rawValue
        case .records(.fromEnd(let back))?: return session.last - min(session.last, back - 1)
        default: throw ToolError.usage("`\(escaped(text))` is not an event", hint: "Write @41, or @-1 for the last.")
        }
    }

    private func move(_ text: String, by direction: Int64) throws {
        guard let count = text.isEmpty ? 1 : Int64(text), count > 0 else {
            throw ToolError.usage("`\(escaped(text))` is not a number of steps")
        }
        let here = Int64(session.through)
        let target = max(Int64(session.first), here + direction * count)
        if target == here + 1 {
            if try session.forward() == nil { try say("this is the last event") }
        } else if target == here - 1 {
            try session.back()
        } else if target == here {
            try say("this is the beginning")
        } else {
            try session.seek(UInt64(target))
        }
    }

    // MARK: Runs

    private func values() throws -> [String] { try watches.map { try $0.value(session.reader) } }

    private func go(_ text: String) throws {
        let reached: Bool
        let interrupt = context.host.interrupt
        if !text.isEmpty {
            let condition = try Watch(text, session.reader)
            let now = try condition.value(session.reader)
            reached = try session.run(until: { try condition.value($0) != now }, { interrupt.isSet })
        } else {
            let now = try values()
            guard !now.isEmpty else {
                throw ToolError.usage("no watch is set to run to", hint: "`watch TodoItem/7f3a.title`, then `run`.")
            }
            let watches = watches
            reached = try session.run(
                until: { reader in try watches.map { try $0.value(reader) } != now }, { interrupt.isSet })
        }
        if !reached { try say("no watched value changed up to the last event") }
    }

    private func reverse(_ text: String) throws {
        let watched = text.isEmpty ? watches : [try Watch(text, session.reader)]
        guard !watched.isEmpty else {
            throw ToolError.usage("no watch is set to run back to", hint: "`watch TodoItem/7f3a.title` first.")
        }
        let isReached = try session.reverse { reader in try watched.map { try $0.value(reader) } }
        if !isReached { try say("no watched value changed since the beginning") }
    }

    private func unwatch(_ text: String) throws {
        if text.isEmpty {
            watches = []
        } else if let number = Int(text), watches.indices.contains(number - 1) {
            watches.remove(at: number - 1)
        } else {
            throw ToolError.usage("there is no watch `\(escaped(text))`", hint: "`watch` lists them.")
        }
    }

    // MARK: Output

    private func say(_ text: String) throws { try context.output.line(context.output.style.paint(text, .warning)) }

    private func show() throws {
        let style = context.output.style
        if style.isForPeople && lines.isInteractive { try context.output.line("\u{1b}[H\u{1b}[2J") }
        let screen = StepperScreen(session: session, watches: watches, style: style)
        let shown = try screen.lines()
        for line in shown { try context.output.line(line) }
        if !context.output.form.isText {
            let json = try screen.json()
            try context.output.value(json)
        }
    }

    private func list() throws -> Bool {
        if watches.isEmpty { try context.output.line("there are no watches") }
        for (index, watch) in watches.enumerated() {
            try context.output.line("\(index + 1)  \(escaped(watch.text))")
        }
        return false
    }

    private func rows(_ table: String) throws -> Bool {
        guard !table.isEmpty else {
            try context.output.line(try session.reader.tables().map { escaped($0) }.joined(separator: "  "))
            return false
        }
        var query = RowQuery(table: table)
        query.top = 50
        query.countsAll = true
        let found = try session.reader.run(query)
        for row in found.rows { try context.output.line(JSONValue(row).text) }
        if let count = found.count, count > found.rows.count {
            try context.output.line("… \(count - found.rows.count) more")
        }
        return false
    }

    private func row(_ text: String) throws -> Bool {
        let address = try RowAddress(text)
        guard let entry = try session.reader.entry(address.table, address.id) else {
            try context.output.line("the row does not exist")
            return false
        }
        for line in EntrySummary.json(entry, address.id).lines() { try context.output.line(line) }
        return false
    }

    private func outbox() throws -> Bool {
        let operations = try session.reader.outbox()
        if operations.isEmpty { try context.output.line("the outbox is empty") }
        for (index, report) in operations.enumerated() {
            for line in StepperScreen.lines(report, number: index + 1) { try context.output.line(line) }
        }
        return false
    }

    private func help() throws -> Bool {
        for command in StepperCommand.allCases {
            try context.output.line("  \(command.usage.padded(to: 22)) \(command.summary)")
        }
        try context.output.line("An empty line repeats the last command. Commands can be shortened.")
        return false
    }
}
