// A replay of a store's log: finds the events and the checkpoints that the machine needs to move to a place in the
// history. Nothing is written.

import SegmentLog
import Syncline

/// A position in a log's history that moves both ways.
final class ReplaySession {
    private let storage: any LogStorage
    /// Keeps the history until the session ends.
    private let claim: LogLease?
    private let inspection: LogInspection
    private(set) var replay: Replay
    /// The state at the beginning of the history.
    let first: UInt64
    /// The last event in the log.
    let last: UInt64
    /// The step that led here; nil if none was taken.
    private(set) var step: ReplayStep?
    /// Events that were read ahead, by number.
    private var window: [UInt64: Event] = [:]
    private static let windowSize = 512
    /// The distance up to which events are replayed from the present state rather than from a checkpoint.
    private static let replayLimit: UInt64 = 20_000

    /// - Parameter keepsHistory: Whether nothing may be removed until the session ends.
    init(_ storage: any LogStorage, keepsHistory: Bool = true) throws {
        self.storage = storage
        claim = keepsHistory ? HistoryReading.claim(storage) : nil
        inspection = LogInspection(storage)
        let start = try StateLoader(storage).earliest()
        first = start.through
        last = try inspection.lastRecord(try inspection.catalog()).rawValue
        replay = Replay(from: start)
    }

    deinit { claim?.release() }

    var through: UInt64 { replay.through }
    var reader: StateReader { replay.reader }

    // MARK: Steps

    /// Applies the next event; nil at the end.
    @discardableResult
    func forward() throws -> ReplayStep? {
        guard through < last, let (number, event) = try event(after: through) else { return nil }
        step = try replay.step(event, number: number)
        return step
    }

    /// Undoes the last event; false at the beginning.
    @discardableResult
    func back() throws -> Bool {
        guard through > first else { return false }
        let target = through - 1
        if try !replay.back() { try begin(at: target) }
        step = nil
        try showLast()
        return true
    }

    /// Moves to the state right after an event.
    func seek(_ target: UInt64) throws {
        let target = min(max(target, first), last)
        if target < through {
            while through > target {
                if try !replay.back() {
                    try begin(at: target)
                    break
                }
            }
        } else if target - through > ReplaySession.replayLimit {
            try begin(at: target)
        }
        while through < target, try forward() != nil {}
        step = nil
        try showLast()
    }

    /// Starts again at some distance before an event, so that there is a way back from it, and moves there.
    private func begin(at target: UInt64) throws {
        let start = target - min(target - first, UInt64(Replay.reach / 2))
        replay = Replay(
            from: start <= first ? try StateLoader(storage).earliest() : try StateLoader(storage).load(through: start))
        while through < target, try forward() != nil {}
    }

    /// Repeats the step that led here, to have its changes.
    private func showLast() throws {
        guard through > first, try replay.back() else { return }
        try forward()
    }

    private func event(after number: UInt64) throws -> (UInt64, Event)? {
        let next = number + 1
        if let event = window[next] { return (next, event) }
        window.removeAll(keepingCapacity: true)
        let shapes = ShapeTable()
        var found: UInt64?
        try inspection.forEachRecord(from: next) { number, record in
            found = found ?? number
            window[number] = try Event(record, shapes: shapes)
            return window.count < ReplaySession.windowSize
        } lost: { lost in
            if case .damage(let damage) = lost, damage.remedy != .cutTail { throw damage.error }
        }
        return found.flatMap { found in window[found].map { (found, $0) } }
    }

    // MARK: Runs

    /// Moves forward until a condition of the state is true; returns whether it became true.
    func run(until isReached: (StateReader) throws -> Bool, _ isStopped: () -> Bool = { false }) throws -> Bool {
        while !isStopped(), try forward() != nil {
            if try isReached(reader) { return true }
        }
        return false
    }

    /// Moves back to the last change of a value: to the state before the event that gave the present value.
    func reverse<Value: Equatable>(watching value: (StateReader) throws -> Value) throws -> Bool {
        let now = try value(reader)
        // If it is near, steps back are quicker; if it is far, the history is replayed once more.
        for _ in 0..<Replay.reach / 4 {
            guard try back() else { return false }
            if try value(reader) != now { return true }
        }
        let end = through
        try seek(first)
        var changed: UInt64?
        var before = try value(reader)
        while through < end {
            let here = through
            guard try forward() != nil else { break }
            let after = try value(reader)
            if after != before { changed = here }
            before = after
        }
        try seek(changed ?? first)
        return changed != nil
    }
}
