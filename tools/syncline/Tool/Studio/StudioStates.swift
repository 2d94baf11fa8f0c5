// The state of the store at any moment, for the page. Past states come from one replay that moves to the event; the
// present one is continued as the app writes. Where records are missing, the state is put together from what can be
// read, and says so.

import SegmentLog
import Syncline
import SynclineGround
import SynclineSQL

/// The state as of an event.
struct StudioState {
    let reader: StateReader
    let through: UInt64
    let totals: ChangeCounts
    /// Whether every event that leads to it was read and made sense.
    var isWhole = true
}

/// A state that no later request moves.
struct SettledState: Sendable {
    let source: SQLSource
    let isWhole: Bool

    var reader: StateReader { source.reader }
    var event: UInt64 { source.event }
}

final class StudioStates: Sendable {
    let storage: POSIXStorage
    // Unchecked: it is used only between lock and unlock.
    private struct Content: @unchecked Sendable {
        var session: ReplaySession?
        var present: Projector?
        var partial: PartialState?
    }
    private let content = Mutex(Content())
    /// The state that was last asked for by a question that takes long.
    private let settled = Mutex<SettledState?>(nil)

    init(_ storage: POSIXStorage) {
        self.storage = storage
    }

    /// The last event of the log.
    var last: UInt64 {
        get throws {
            let inspection = LogInspection(storage)
            return try inspection.lastRecord(try inspection.catalog()).rawValue
        }
    }

    /// Reads the state as of an event, or the present state without one.
    func read<Answer: Sendable>(at event: UInt64?, _ body: (StudioState) throws -> Answer) throws -> Answer {
        let last = try last
        let event = min(event ?? last, last)
        return try content.withLock { content in
            let state: StudioState
            do {
                state = try event == last ? present(&content, last) : past(&content, event, last).state
            } catch {
                state = try partial(&content, event, error).state
            }
            return try body(state)
        }
    }

    /// Reads what an event did; without changes if it has none.
    func read(step event: UInt64, _ body: (StudioState, StudioStep) throws -> JSONValue) throws -> JSONValue {
        let last = try last
        return try content.withLock { content in
            let found: (state: StudioState, step: StudioStep)
            do {
                let session = try past(&content, event, last)
                found = (session.state, StudioStep(session.session))
            } catch {
                found = try partial(&content, event, error).step
            }
            return try body(found.state, found.step)
        }
    }

    /// The state as of an event, for a question that takes long: other requests do not wait for it.
    func settled(at event: UInt64?) throws -> SettledState {
        let last = try last
        let event = min(event ?? last, last)
        if let known = settled.withLock({ $0 }), known.event == event { return known }
        let made = try settle(at: event)
        settled.withLock { $0 = made }
        return made
    }

    private func settle(at event: UInt64) throws -> SettledState {
        do {
            let projector = try HistoryReading.run(storage) { () throws(SyncError) in
                try StateLoader(storage).load(through: event)
            }
            return SettledState(source: SQLSource(projector.present, event: event, storage), isWhole: true)
        } catch {
            guard StudioStates.isOfDamage(error) else { throw error }
            let partial = try PartialState(storage, through: event).state
            return SettledState(source: SQLSource(partial.reader, event: event, storage), isWhole: partial.isWhole)
        }
    }

    // MARK: Whole logs

    private func past(
        _ content: inout Content, _ event: UInt64, _ last: UInt64
    ) throws -> (state: StudioState, session: ReplaySession) {
        // The page may stay open for long, so history is kept only while it is read.
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        do {
            return try move(&content, to: event, last)
        } catch {
            guard ToolError(error)?.code == "collected" else { throw error }
            return try move(&content, to: event, last)
        }
    }

    private func move(
        _ content: inout Content, to event: UInt64, _ last: UInt64
    ) throws -> (state: StudioState, session: ReplaySession) {
        let known = content.session
        // A session that failed has no defined position.
        content.session = nil
        let floor = try LogInspection(storage).catalog().floor.rawValue
        let session: ReplaySession
        if let known, known.last >= min(event, last), known.first + 1 >= floor {
            session = known
        } else {
            session = try ReplaySession(storage, keepsHistory: false)
        }
        try session.seek(event)
        content.session = session
        let totals = session.replay.projector.totals
        return (StudioState(reader: session.reader, through: session.through, totals: totals), session)
    }

    private func present(_ content: inout Content, _ last: UInt64) throws -> StudioState {
        let known = content.present
        content.present = nil
        let projector: Projector
        if let known, known.through <= last {
            projector = known
            try HistoryReading.run(storage, claiming: false) { () throws(SyncError) in
                try EventWalk(storage).forEachRecord(from: projector.through + 1) { number, record throws(SyncError) in
                    guard number > projector.through else { return true }
                    try projector.apply(record, number: number)
                    if number & 0xff == 0 { try projector.store.settle(above: 16 << 20) }
                    return true
                }
            }
        } else {
            projector = try HistoryReading.run(storage, claiming: false) { () throws(SyncError) in
                try StateLoader(storage).load()
            }
        }
        let state = StudioState(reader: projector.present, through: projector.through, totals: projector.totals)
        content.present = projector
        return state
    }

    // MARK: Damaged logs

    private static func isOfDamage(_ error: any Error) -> Bool {
        ["store-corrupt", "collected"].contains(ToolError(error)?.code)
    }

    /// What can be read of a damaged log; rethrows an error that has another reason.
    private func partial(_ content: inout Content, _ event: UInt64, _ error: any Error) throws -> PartialState {
        guard StudioStates.isOfDamage(error) else { throw error }
        if let known = content.partial, known.through <= event {
            try known.move(to: event)
            return known
        }
        content.partial = nil
        let partial = try PartialState(storage, through: event)
        content.partial = partial
        return partial
    }
}

/// An event and the rows that it changed.
struct StudioStep {
    var number: UInt64
    var event: Event?
    var rows: [RowDifference]
    /// Whether a part of the event depends on events that can't be read, and was left out.
    var isLeftOut: Bool

    init(number: UInt64, event: Event? = nil, changes: StateChanges? = nil, isLeftOut: Bool = false) {
        (self.number, self.event, self.isLeftOut) = (number, event, isLeftOut)
        rows = changes.map { changes in changes.rows.map { changes.difference(of: $0) } } ?? []
    }

    init(_ session: ReplaySession) {
        self.init(number: session.through, event: session.step?.event, changes: session.step?.changes)
    }
}

/// The state of a damaged log: the newest checkpoint before the moment that can be read, and all later events that can
/// be read and make sense.
private final class PartialState {
    private let storage: POSIXStorage
    private let fold: RescueFold
    private var isWhole: Bool
    private var last: StudioStep?

    var through: UInt64 { fold.projector.through }

    init(_ storage: POSIXStorage, through event: UInt64) throws {
        self.storage = storage
        let base = try PartialState.base(storage, through: event)
        fold = RescueFold(try base ?? Projector())
        isWhole = try base != nil || LogInspection(storage).catalog().segments.first?.first == .first
        try move(to: event)
    }

    private static func base(_ storage: POSIXStorage, through event: UInt64) throws -> Projector? {
        for checkpoint in try Checkpoint.list(storage) where checkpoint.rawValue <= event {
            if let found = try? StateLoader(storage).load(through: checkpoint.rawValue) { return found }
        }
        return nil
    }

    /// Folds further events.
    func move(to event: UInt64) throws {
        if through >= event { return }
        var next = through + 1
        last = nil
        try LogInspection(storage).forEachRecord(from: next) { number, record in
            if number > event { return false }
            if number != next { isWhole = false }
            next = number + 1
            if number == event {
                try step(record, number)
            } else {
                try fold.fold(record, number: number)
            }
            if number & 0xff == 0 { try fold.projector.store.settle(above: 16 << 20) }
            return number < event
        }
        if next <= event {
            isWhole = false
            fold.end(at: event)
        }
    }

    /// Folds the last event, and notes the rows that it changes.
    private func step(_ record: UnsafeRawBufferPointer, _ number: UInt64) throws {
        var parts: [StateChanges] = []
        fold.afterPart = { projector throws(SyncError) in parts.append(try StateChanges(projector)) }
        defer { fold.afterPart = nil }
        try fold.fold(record, number: number)
        last = StudioStep(
            number: number, event: try? Event(record), changes: StateChanges(joining: parts),
            isLeftOut: fold.leftOut.last == number)
    }

    var state: StudioState {
        StudioState(
            reader: fold.projector.present, through: through, totals: fold.projector.totals,
            isWhole: isWhole && fold.leftOut.isEmpty)
    }

    var step: (StudioState, StudioStep) {
        (state, last ?? StudioStep(number: through))
    }
}
