// Finds the first event behind which a condition is true. What concerns one row is looked for in that row's share of the
// whole log; for the rest the checkpoints say where to begin. What is in the outbox needs no rows, or few.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect

struct Bisection {
    struct Finding {
        /// Nil if it never became true.
        var event: UInt64?
        /// Whether it was true before the first event that was looked at.
        var heldBefore = false
        /// Events that were looked at.
        var examined: UInt64 = 0
    }

    private let storage: any LogStorage
    private let condition: Condition
    private let from: UInt64?
    private let last: UInt64

    /// - Parameter from: The first event to look at; nil to begin where the checkpoints say.
    init(_ storage: any LogStorage, _ condition: Condition, from: UInt64?, through last: UInt64) {
        self.storage = storage
        self.condition = condition
        self.from = from
        self.last = last
    }

    func run() throws -> Finding {
        try checkTable()
        let start = try start()
        if let finding = try outline(from: start) { return finding }
        var search = try ReplaySearch(condition, from: start)
        return try find(behind: start.through, search.holds) { record, number in
            try search.fold(record, number: number)
        }
    }

    /// Refuses a table that is neither in the first nor in the last state: it is misspelt.
    private func checkTable() throws {
        guard let table = condition.table else { return }
        let loader = StateLoader(storage)
        var known = try loader.earliest().present.tables()
        if known.contains(table) { return }
        known += try loader.load(through: last == .max ? nil : last).present.tables()
        if known.contains(table) { return }
        throw ToolError(
            "invalid-query", "there is no table \(table)",
            hint: Suggestion.nearest(to: table, in: known).map { "Did you mean `\($0)`?" })
    }

    /// What is in the outbox, and what waits there, is mostly clear without folding rows; nil where it is not.
    private func outline(from start: Projector) throws -> Finding? {
        guard [.pending, .conflicts].contains(condition.subject), var outline = try OutboxOutline(from: start) else {
            return nil
        }
        func holds() -> Bool? {
            (condition.subject == .pending ? outline.count : outline.waiting).map(condition.holds)
        }
        var isClear = true
        let finding = try find(behind: start.through, holds() ?? false) { record, number in
            let holds = try outline.fold(record, number: number) ? holds() : nil
            isClear = holds != nil
            return holds
        }
        return isClear ? finding : nil
    }

    /// Looks at the events behind one until the condition becomes true, or its truth is not known.
    private func find(
        behind through: UInt64, _ heldBefore: Bool, _ fold: (UnsafeRawBufferPointer, UInt64) throws -> Bool?
    ) throws -> Finding {
        var finding = Finding(heldBefore: heldBefore)
        // What holds already must cease to before an event can make it true.
        var held = heldBefore
        try LogInspection(storage).forEachRecord(from: through + 1) { number, record in
            if number > last { return false }
            finding.examined += 1
            guard let holds = try fold(record, number) else { return false }
            if holds && !held {
                finding.event = number
                return false
            }
            held = holds
            return true
        } lost: { lost in
            if case .damage(let damage) = lost, damage.remedy != .cutTail { throw damage.error }
        }
        return finding
    }

    /// The state to begin with.
    private func start() throws -> Projector {
        let loader = StateLoader(storage)
        if let from { return from <= 1 ? try loader.earliest() : try loader.load(through: from - 1) }
        if condition.focus != nil { return try loader.earliest() }
        var best: UInt64?
        for checkpoint in try Checkpoint.list(storage).reversed() where checkpoint.rawValue <= last {
            guard let projector = try? loader.load(through: checkpoint.rawValue) else { continue }
            if condition.holds(try condition.count(in: projector.present)) { break }
            best = checkpoint.rawValue
        }
        return try best.map { try loader.load(through: $0) } ?? loader.earliest()
    }
}
