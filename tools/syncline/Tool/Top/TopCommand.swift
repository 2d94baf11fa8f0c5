// `top`: a live view of a store that an app writes. It only reads: nothing in the store is changed.

import SegmentLog
import Syncline

enum TopCommand {
    static let command = Command(
        "top", "watch what an app does in the store, live",
        details: [
            """
            It changes with the store, at least each second, until q or Ctrl-C. Without a terminal, or with --json, \
            each sample is one line of JSON.
            """
        ],
        options: [
            Option("count", short: "n", value: "N", "end after N samples"),
            Option("every", value: "SECONDS", "the time between lines (default: 1)"),
        ],
        examples: [Example("syncline top --json --count 60", "a minute, for a program")],
        result:
            #"""
            {"time","store","event":"@41","eventsPerSecond":n,"eventsLastMinute":n,"outbox","lastPush",\#
            "lastPages","failures":[…],"newest":[{"event","time","kind","what"}]}, the rest as in status
            """#,
        run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let path = try context.path(reading: arguments)
        let limit = try arguments.number("count").map(Int.init)
        let pause = Duration.seconds(Int(try arguments.number("every", in: 1...86_400) ?? 1))
        var watch = try TopWatch.begin(path, context)
        let environment = context.environment
        let isLive = context.output.form.isText && environment.outputIsTerminal && environment["TERM"] != "dumb"
        context.host.interrupt.listen()
        let screen = isLive ? TopScreen(context) : nil
        defer { screen?.end() }
        var count = 0
        var due = context.host.now()
        while !context.host.interrupt.isSet, !Task.isCancelled {
            let hasNews = try watch.advance()
            let now = context.host.now()
            if now >= due || screen != nil && hasNews {
                if now >= due { due = now + pause }
                let time = context.clock.now().rawValue
                if let screen {
                    let (style, height) = (context.output.style, environment.height)
                    try screen.show(try watch.sample().lines(of: path, style, now: time, height: height))
                } else {
                    try context.output.raw(Array((try watch.sample().json(of: path, now: time).text + "\n").utf8))
                    try context.output.flush()
                }
                if context.output.isClosed { throw ClosedPipe() }
                count += 1
                if count == limit { break }
            }
            if screen?.isLeft() ?? false { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        return .done
    }
}

/// Reads the new events of a store, and counts its outbox.
private struct TopWatch: ~Copyable {
    private let states: StudioStates
    private var storage: POSIXStorage { states.storage }
    /// Nil if the log is damaged: then each look reads around the damage.
    private var cursor: LogCursor?
    private var activity: StoreActivity
    private let shapes = ShapeTable()
    /// The event that the outbox was counted at.
    private var counted: UInt64?

    /// How many events tell of the last push and of the last pages.
    private static let newest = 1 << 14

    static func begin(_ path: String, _ context: Context) throws -> TopWatch {
        let states = StudioStates(POSIXStorage(directory: path))
        let reading = EventReading(states.storage, context)
        var next = try reading.first(ofLast: TopWatch.newest)
        var activity = StoreActivity()
        try reading.forEach(from: next) { number, event in
            activity.add(event, number: number)
            next = number + 1
            return true
        }
        let cursor = try TopWatch.cursor(states.storage, from: next)
        return TopWatch(states: states, cursor: cursor, activity: activity)
    }

    private static func cursor(_ storage: POSIXStorage, from next: UInt64) throws -> LogCursor? {
        do throws(LogError) {
            return try LogReader.open(storage, showing: .written).cursor(from: SequenceNumber(rawValue: next))
        } catch {
            guard error.code == .storeCorrupt else { throw error }
            return nil
        }
    }

    /// Reads what was written since; returns whether anything was.
    mutating func advance() throws -> Bool {
        let before = activity.last
        do {
            if cursor == nil { try readAround() }
            while try cursor?.nextFrame() ?? false {
                try cursor?.forEachRecord { number, record throws in
                    guard let event = try? record.withUnsafeBytes({ try Event($0, shapes: shapes) }) else { return }
                    activity.add(event, number: number.rawValue)
                }
            }
        } catch let error as LogError where error.code == .storeCorrupt {
            cursor = nil
            try readAround()
        } catch let error as LogError where error.code == .collected {
            // History was removed under it: what is left is read on.
            let inspection = LogInspection(storage)
            let floor = try inspection.catalog().segments.first?.first.rawValue ?? 1
            cursor = try TopWatch.cursor(storage, from: max(floor, activity.last + 1))
        }
        return activity.last != before
    }

    private mutating func readAround() throws {
        try LogInspection(storage).forEachRecord(from: activity.last + 1) { number, record in
            if let event = try? Event(record, shapes: shapes) { activity.add(event, number: number) }
            return true
        }
    }

    mutating func sample() throws -> StoreActivity {
        let waiting = try WaitingChange.all(storage).count
        if counted != activity.last || waiting != activity.outbox.ofOtherProcesses {
            let counts = try states.read(at: nil) { try PushCounts($0.reader) }
            activity.outbox = StoreStatus.Outbox(counts, ofOtherProcesses: waiting)
            counted = activity.last
        }
        return activity
    }
}

/// The whole screen of a terminal, which shows again what was there before when it ends.
private struct TopScreen {
    private let context: Context
    private let mode: RawMode?

    init(_ context: Context) {
        self.context = context
        mode = context.environment.inputIsTerminal ? RawMode() : nil
        try? context.output.raw(Array("\u{1b}[?1049h\u{1b}[?25l".utf8))
    }

    func show(_ lines: [String]) throws {
        // Each line replaces the one before it, so that nothing flickers.
        let text = "\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J"
        try context.output.raw(Array(text.utf8))
        try context.output.flush()
    }

    /// Whether the user pressed q, Ctrl-C or Ctrl-D.
    func isLeft() -> Bool {
        guard mode != nil else { return false }
        while let byte = RawMode.waitingByte() {
            if [UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03, 0x04].contains(byte) { return true }
        }
        return false
    }

    func end() {
        try? context.output.raw(Array("\u{1b}[?25h\u{1b}[?1049l".utf8))
        try? context.output.flush()
        mode?.end()
    }
}
