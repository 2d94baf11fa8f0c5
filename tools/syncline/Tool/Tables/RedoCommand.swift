// `redo`: makes an undone transaction again. In a shell the open store knows what was undone; otherwise the log tells.

import SegmentLog
import Syncline
import SynclineCore
import SynclineGround

enum RedoCommand {
    static let command = Command(
        "redo", "make the last undone transaction again",
        details: [
            """
            It is a new transaction, possible until a row is changed here. Columns that the transaction did not change \
            keep their values. A shell makes several again, one after the other, \
            and a single call only the last.
            """
        ],
        examples: [Example("syncline redo", "after `syncline undo`")],
        result: #"{"events":"@13"}, or {"events":null} if the rows have these values"#,
        exits: [Exit(.no, "there is nothing to redo")]
    ) { arguments, context in
        let path = try context.path(changing: arguments)
        let event = try await context.withDatabase(arguments) { database in
            if database.canRedo { return try await database.redo()?.rawValue }
            let changes = try undone(POSIXStorage(directory: path), context)
            return try await database.transactionEvent { transaction in
                for change in changes { try transaction.redo(change) }
            }
        }
        try context.output.value(["events": .optional(event.map { "@\($0)" })])
        try context.output.line(event.map { "made again as @\($0)" } ?? "the rows have these values already")
        return .done
    }

    /// What the last undo did to rows. Throws if the app has changed a row since.
    private static func undone(_ storage: any LogStorage, _ context: Context) throws -> [RowDifference] {
        let newest = try EventReading(storage, context).newest(1, from: 1, through: .max) { event in
            switch event.body {
            case .local, .undone: true
            default: false
            }
        }
        guard let (number, event) = newest.last, case .undone = event.body else {
            throw SyncError(
                .operationNotFound, "there is nothing to redo",
                hint: "What was undone can be made again until a row is changed.")
        }
        return try HistoryReading.run(storage, claiming: true) { () throws(SyncError) in
            try StateLoader(storage).differences(from: number - 1, to: number)
        }
    }
}

extension SyncTransaction {
    /// Makes again what an undo took back.
    fileprivate func redo(_ undone: RowDifference) throws(SyncError) {
        guard let done = undone.before else { return try delete(undone.table, id: undone.id) }
        let id = Value.Member("id", .string(undone.id))
        if undone.after == nil {
            try insert(undone.table, .object([id] + done.own.members))
        } else {
            // In the order of the row that is made again.
            let changed = undone.fields.filter { !Item.systemColumns.contains($0.name) }
            let kept = done.members.filter { member in changed.contains { $0.name.hasSameBytes(as: member.name) } }
            let removed = changed.filter { $0.before == nil }.map { Value.Member($0.name, .null) }
            try update(undone.table, .object([id] + kept + removed))
        }
    }
}
