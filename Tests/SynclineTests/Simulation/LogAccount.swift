// Follows every change through a store's log: it leaves the outbox only with an event that explains it, and what the
// log calls done was on the server.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire

@testable import Syncline

struct LogAccount {
    let client: Int
    let acknowledged: [UInt64: Set<Int64>]
    /// Values that a server's row ever had in a column, and rows that were ever gone.
    let history: Set<String>

    /// Follows every change through the log: it exists, and leaves the outbox only with an event that explains it.
    func check(_ disk: MemoryStorage) throws {
        let projector = try Projector()
        var outbox: [Position: [UInt8]] = [:]
        try EventWalk(disk).forEach { number, event in
            let frozen = try self.done(event, projector)
            let idle = try self.idle(event, outbox, projector)
            try projector.apply(event, number: number)
            projector.store.endCommit()
            if let numbers = acknowledged[number] {
                guard case .local(let transaction) = event.body, numbers.isSubset(of: transaction.numbers) else {
                    throw SyncFailure("client \(client), @\(number): an acknowledged change is not in the log")
                }
            }
            let after = try LogAccount.outbox(projector)
            for (position, row) in outbox where after[position] == nil && !idle.contains(row) {
                try check(position, row, mayLeaveWith: event, projector, frozen)
            }
            outbox = after
            if let frozen { try checkArrived(frozen, number) }
            guard projector.totals.pending == UInt64(after.count) else {
                throw SyncFailure("client \(client), @\(number): the balance is off")
            }
            return true
        }
        guard outbox.isEmpty, projector.totals.pending == 0 else {
            throw SyncFailure("client \(client): changes are left over")
        }
    }

    static func outbox(_ projector: Projector) throws -> [Position: [UInt8]] {
        var all: [Position: [UInt8]] = [:]
        try StateReader(projector.store.snapshot, projector.shapes).forEachChange { position, change in
            all[position] = change.rowKey
            return true
        }
        return all
    }

    /// The operation that an answer marks as done.
    private func done(_ event: Event, _ projector: Projector) throws -> (FrozenOperation, String)? {
        guard case .answered(let answer) = event.body, case .done = answer.outcome else { return nil }
        let entry = try projector.state.entry(projector.state.rowKey(answer.table, answer.id)).entry
        return entry?.pending?.frozen.map { ($0, "\(answer.table)/\(answer.id.lowercased())") }
    }

    /// Rows with nothing to send before a purge: an insert that was deleted again may be removed with the row.
    private func idle(
        _ event: Event, _ outbox: [Position: [UInt8]], _ projector: Projector
    ) throws -> Set<[UInt8]> {
        guard case .purged = event.body else { return [] }
        return Set(
            try outbox.values.filter { key in
                let pending = try projector.state.entry(key).entry?.pending
                return pending?.operation == nil && pending?.frozen == nil
            })
    }

    private func check(
        _ position: Position, _ row: [UInt8], mayLeaveWith event: Event, _ projector: Projector,
        _ frozen: (FrozenOperation, String)?
    ) throws {
        func isRow(_ table: String, _ id: String) -> Bool { projector.state.rowKey(table, id) == row }
        let isAllowed =
            switch event.body {
            case .undone(let event): position.event == event
            case .page(let page): page.rows.contains { isRow(page.table, $0.id) }
            case .purged(let purge): purge.isForced
            case .sent(let operations): operations.contains { isRow($0.table, $0.id) && $0.operationID == nil }
            case .answered(let answer):
                isRow(answer.table, answer.id) && position <= frozen?.0.through ?? .init(event: 0)
            case .resolved(let resolution): isRow(resolution.table, resolution.id)
            case .discarded(let table, let id): isRow(table, id)
            default: false
            }
        guard isAllowed else { throw SyncFailure("the change \(position.event).\(position.index) went with \(event)") }
    }

    /// What the log calls done was on the server at some time.
    private func checkArrived(_ done: (operation: FrozenOperation, row: String), _ number: UInt64) throws {
        let (operation, row) = done
        if operation.kind == .delete {
            guard history.contains("\(row) gone") || serverNeverHad(row) else {
                throw SyncFailure("@\(number): the delete of \(row) is done, and the row was never gone")
            }
        }
        for member in operation.columns.members where !member.value.isNull {
            guard history.contains("\(row)/\(member.name)=\(member.value.json)") else {
                throw SyncFailure("@\(number): \(row) is done, and its \(member.name) never reached the server")
            }
        }
    }

    private func serverNeverHad(_ row: String) -> Bool { !history.contains { $0.hasPrefix("\(row)/") } }
}

extension LocalTransaction {
    /// The numbers of its changes.
    fileprivate var numbers: Set<Int64> {
        var all: Set<Int64> = []
        for change in changes {
            for member in change.columns.members {
                if case .integer(let number) = member.value { all.insert(number) }
            }
        }
        return all
    }
}
