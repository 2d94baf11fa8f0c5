// The removal of a load's rows, and what is left of them.

import SynclineCore
import SynclineGround

struct LoadRemoval: Hashable, Sendable {
    private(set) var removed = 0
    /// Rows that the server had acknowledged, and has no more.
    private(set) var lost = 0
    /// Rows that the server has, or may have.
    private(set) var left: [Int]
    /// Why they are left.
    private(set) var reason: LoadFailure?
    /// How many of those only may exist.
    var unclear: Int { left.count { !made.contains($0) } }
    /// Whether the table keeps tombstones of removed rows; nil if that is not known.
    var hasTombstones: Bool?
    /// The rows that certainly exist.
    private let made: Set<Int>
    /// An earlier delete of these may have been done.
    private var tried: Set<Int> = []

    init(_ rows: LoadRows) {
        left = rows.made + rows.unclear
        made = Set(rows.made)
    }

    /// Takes the answers to deletes of the first rows that are left; returns whether some of them failed.
    mutating func take(_ answers: [LoadAnswer]) -> Bool {
        var failed: [Int] = []
        for (number, answer) in zip(left, answers) {
            switch answer {
            case .success: removed += 1
            case .failure(let failure) where failure.isGone:
                guard made.contains(number) else { continue }
                if tried.contains(number) { removed += 1 } else { lost += 1 }
            case .failure(let failure):
                failed.append(number)
                if failure.isUnclear { tried.insert(number) }
                reason = failure
            }
        }
        left = left.dropFirst(answers.count) + failed
        return !failed.isEmpty
    }

    mutating func interrupt() { reason = LoadFailure(.cancelled) }
}

extension LoadRun {
    private static let batch = 500

    /// Deletes the rows of the load, and no others. Gives up after fifty failures in a row.
    func remove() async -> LoadRemoval {
        var removal = LoadRemoval(state.withLock { $0.rows })
        var failures = 0
        while !removal.left.isEmpty, failures < 50 {
            if Task.isCancelled {
                removal.interrupt()
                break
            }
            let writes = state.withLock { [left = removal.left] state in
                state.rows.writes(.delete, left.prefix(LoadRun.batch), of: plan.table)
            }
            if removal.take(await ask(.batch(writes)).answer.writes(writes.count)) {
                failures += 1
                await world.pause(LoadRun.wait)
            } else {
                failures = 0
            }
        }
        if removal.removed > 0, let row = state.withLock({ $0.rows.made.first.map($0.rows.id) }) {
            removal.hasTombstones = await hasTombstone(row)
        }
        return removal
    }

    /// Whether a list with deleted rows has one.
    private func hasTombstone(_ id: String) async -> Bool? {
        var list = ListRequest(
            table: plan.table, filter: .compare(.equal, .column("id"), .literal(.string(id))))
        (list.top, list.counts) = (1, false)
        guard case .success(let reply) = await ask(.list(list)).answer, case .list(let found) = reply.content else {
            return nil
        }
        return !found.rows.isEmpty
    }
}
