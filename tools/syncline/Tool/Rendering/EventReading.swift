// Reads events for output, and reports those that can't be read.

import SegmentLog
import SynclineCore

/// Reads the events of a log, some of which may be lost.
struct EventReading {
    let storage: any LogStorage
    let context: Context
    private let shapes = ShapeTable()

    init(_ storage: any LogStorage, _ context: Context) {
        self.storage = storage
        self.context = context
    }

    /// Visits the events from a number on, until the visitor returns false. Lost events are reported on standard error.
    func forEach(from first: UInt64 = 1, _ body: (UInt64, Event) throws -> Bool) throws {
        try forEach(where: { _ in true }, from: first, body: body)
    }

    /// The same without the records that a look at their bytes excludes.
    func forEach(
        where isWanted: (UnsafeRawBufferPointer) -> Bool, from first: UInt64 = 1,
        body: (UInt64, Event) throws -> Bool
    ) throws {
        try forEachRecord(from: first) { number, record in
            guard isWanted(record) else { return true }
            let event: Event
            do throws(SyncError) {
                event = try Event(record, shapes: shapes)
            } catch {
                tell(unreadable: number, error)
                return true
            }
            return try body(number, event)
        }
    }

    /// Works on all events through a number with their stored bytes, on several threads, and takes the outputs in order.
    func forEach<Output: Sendable>(
        from first: UInt64, through last: UInt64,
        _ work: @escaping @Sendable (UInt64, Event, UnsafeRawBufferPointer) -> Output?,
        take: (Output) throws -> Void
    ) throws {
        var pipeline = RecordPipeline<[Worked<Output>]> {
            let shapes = ShapeTable()
            return { batch in
                var all: [Worked<Output>] = []
                batch.forEach { number, record in
                    let output = Result { () throws(SyncError) in
                        work(number, try Event(record, shapes: shapes), record)
                    }
                    all.append(Worked(number: number, output: output))
                }
                return all
            }
        }
        func takeAll(_ all: [Worked<Output>]) throws {
            for worked in all {
                switch worked.output {
                case .success(let output?): try take(output)
                case .success(nil): break
                case .failure(let error): tell(unreadable: worked.number, error)
                }
            }
        }
        try forEachRecord(from: first) { number, record in
            if number > last { return false }
            try pipeline.add(number, record, takeAll)
            return true
        }
        try pipeline.finish(takeAll)
    }

    /// The output for an event, or why it can't be read.
    private struct Worked<Output: Sendable>: Sendable {
        let number: UInt64
        let output: Result<Output?, SyncError>
    }

    private func tell(unreadable number: UInt64, _ error: SyncError) {
        context.output.notePartial()
        context.narration.warn("@\(number) is not an event: \(error.message)")
    }

    /// The stored bytes of events alone.
    func forEachRecord(from first: UInt64 = 1, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool) throws {
        try LogInspection(storage).forEachRecord(from: first, body, lost: tell)
    }

    /// Reports events that are lost.
    func tell(_ lost: RecordFound) {
        switch lost {
        case .record: break
        case .hole(let range): context.narration.warn("\(range) are known to be lost")
        case .damage(let damage):
            if damage.remedy == .cutTail { return }
            context.output.notePartial()
            context.narration.warn(damage.sentence)
        }
    }

    /// The newest `count` events that match, in order. They are searched in pieces from the end.
    func newest(
        _ limit: Int, from first: UInt64, through last: UInt64, where matches: (Event) -> Bool
    ) throws -> [(UInt64, Event)] {
        var pieces: [[(UInt64, Event)]] = []
        var missing = limit
        var size: UInt64 = 1024
        var end = min(last, try LogInspection(storage).lastRecord(try LogInspection(storage).catalog()).rawValue)
        let first = try max(first, self.first(ofLast: .max))
        while missing > 0, end >= first {
            let start = max(first, end - min(end, size) + 1)
            var found: [(UInt64, Event)] = []
            try forEach(from: start) { number, event in
                if number <= end, matches(event) { found.append((number, event)) }
                return number < end && !context.output.isClosed
            }
            pieces.append(found.suffix(missing))
            missing -= min(missing, found.count)
            end = start - 1
            size *= 4
        }
        return pieces.reversed().flatMap { $0 }
    }

    /// The first of the newest `count` retained events.
    func first(ofLast count: Int) throws -> UInt64 {
        let inspection = LogInspection(storage)
        let catalog = try inspection.catalog()
        let last = try inspection.lastRecord(catalog).rawValue
        return max(catalog.floor.rawValue, last + 1 - min(last, UInt64(count)))
    }
}

/// Writes events as a list.
struct EventList {
    private var list: ListWriter
    private let context: Context
    private let redacts: Bool
    private let isFull: Bool

    init(_ context: Context, _ arguments: Arguments) throws {
        self.context = context
        redacts = arguments.flag("redact")
        isFull = arguments.flag("full")
        list = try ListWriter(context.output, ["EVENT", "TIME", "KIND", "WHAT"], isCut: !isFull)
    }

    /// - Parameter line: Its effect; nil for the usual one.
    mutating func add(_ number: UInt64, _ event: Event, line: String? = nil) throws {
        let summary = EventSummary(number: number, event: event, redacts: redacts)
        let style = context.output.style
        let time = style.isForPeople ? summary.humanTime : summary.time
        // The columns before it take about fifty characters.
        let room = isFull ? Int.max : max(20, (style.width ?? .max) - 50)
        try list.row(
            [
                Cell("@\(number)", .address), Cell(time, .dim), Cell(event.cause),
                Cell(style.cut(escaped(line ?? summary.line), to: room)),
            ],
            json: summary.json)
    }

    mutating func flush() throws { try list.flush() }

    @discardableResult
    mutating func finish() throws -> ExitCode { try list.finish() }
}
