// Checks a log against the edits of rows in common that processes know to be stored.

import SegmentLog
import SynclineCore
import Testing

@testable import Syncline

struct CommonLog {
    private let edits: [Int64: SharedEdit]
    private let context: String

    init(_ edits: [String: SharedEdit], _ context: String) {
        self.edits = Dictionary(edits.values.map { ($0.time, $0) }) { $1 }
        self.context = context
    }

    /// Each edit is in the log once, and is a conflict if it met something that its process had not seen. The log folds to
    /// the state that is there.
    func check(_ disk: any LogStorage) throws {
        let projector = try Projector()
        var found: Set<String> = []
        // A row in conflict, or decided, may have what another process set and its own process saw: then the edit itself
        // changes nothing when it is taken in.
        var decided: Set<String> = []
        try EventWalk(disk).forEach { number, event in
            let edit = edits[event.time]
            var isMet: Bool? = false
            if let edit {
                try #require(found.insert(edit.mark).inserted, "\(context): \(edit.mark) is there twice")
                let reader = projector.reader(of: projector.store.snapshot)
                isMet = try edit.isMet { CommonRows.columns(try reader.row(CommonRows.table, $0)?.columns) }
            }
            try projector.apply(event, number: number)
            projector.store.endCommit()
            if let edit { try check(edit, isMet, event, projector) }
            if case .local(let transaction) = event.body {
                for change in transaction.changes where change.isContested {
                    decided.formUnion(CommonLog.strings(change.seen?.members ?? []))
                }
            }
            if case .resolved(let resolution) = event.body {
                decided.formUnion(CommonLog.strings(resolution.change?.columns.members ?? []))
            }
            return true
        }
        for mark in edits.values.map(\.mark) where !decided.contains(mark) {
            try #require(found.contains(mark), "\(context): \(mark) is lost")
        }
        let loaded = try StateLoader(disk).load()
        try #require(loaded.store.digest.sealNote == projector.store.digest.sealNote, "\(context)")
    }

    private func check(_ edit: SharedEdit, _ isMet: Bool?, _ event: Event, _ projector: Projector) throws {
        guard case .local(let transaction) = event.body else { return }
        let isContested = transaction.changes.contains(where: \.isContested)
        try #require(transaction.changes.allSatisfy { $0.isContested == isContested }, "\(context): \(edit)")
        if let isMet { try #require(isContested == isMet, "\(context): \(isMet) \(edit)") }
        let reader = projector.reader(of: projector.store.snapshot)
        for change in transaction.changes {
            let entry = try reader.entry(change.table, change.id)
            let isInConflict = entry?.pending?.frozen?.status == .conflict
            if isContested { try #require(isInConflict || entry?.pending?.operation == nil, "\(context): \(edit)") }
            // The other process's side is what the app shows.
            let now = CommonRows.columns(entry?.visible)
            if let wanted = edit.changes.first(where: { $0.id == change.id }) {
                for (name, value) in wanted.columns { try #require(now?[name] == value, "\(context): \(edit)") }
                if wanted.kind == .delete { try #require(now == nil, "\(context): \(edit)") }
            }
        }
    }

    private static func strings(_ members: [Value.Member]) -> [String] {
        members.compactMap { if case .string(let text) = $0.value { text } else { nil } }
    }
}
