// The changes of other processes that the store has not taken in yet, one by one: shown, and dropped on request.

public import Foundation
package import SegmentLog
public import SynclineCore

/// A change of another process that waits to be taken in.
public struct WaitingChange: Hashable, Sendable {
    /// The commit of the other process that it is part of, which ``SyncDatabase/dropWaiting(_:)`` takes.
    public var commit: String
    /// When it was made.
    public var time: Date
    /// The last event that the other process had read.
    public var read: EventNumber
    /// What it does to the row.
    public var kind: OperationKind
    /// The row's table.
    public var table: String
    /// The row's id.
    public var id: String
    /// The columns that it sets.
    public var columns: Row

    /// Returns the changes that wait, in the order in which they are taken in. Changes for another store are not
    /// included; files that can't be read are damage, which `verify` names.
    package static func all(_ storage: any LogStorage) throws(SyncError) -> [WaitingChange] {
        let names = try Tributaries.all(storage)
        if names.isEmpty { return [] }
        let identity = try storage.openLog().identity
        var all: [WaitingChange] = []
        for name in names {
            guard let file = try? TributaryFile(name, in: storage), file.identity == identity else { continue }
            for (time, transaction) in (try? file.transactions()) ?? [] {
                all += transaction.changes.map {
                    WaitingChange(
                        commit: name.text, time: Date(milliseconds: time), read: EventNumber(rawValue: file.read),
                        kind: $0.kind, table: $0.table, id: $0.id, columns: $0.columns)
                }
            }
        }
        return all
    }
}

extension SyncDatabase {
    /// Returns the changes of other processes that the store has not taken in. A change stays here if an operation on
    /// its row must end first, if its table is not declared, or if only the app knows the migration that it needs.
    @concurrent
    public func waitingChanges() async throws(SyncError) -> [WaitingChange] {
        let takenIn = Set(try read { reader throws(SyncError) in try reader.takenIn }.map(\.text))
        return try WaitingChange.all(storage).filter { !takenIn.contains($0.commit) }
    }

    /// Drops a commit of another process that waits. Its changes are gone; later ones of that process stay.
    @concurrent
    public func dropWaiting(_ commit: String) async throws(SyncError) {
        guard await takingIn.lock() else { throw SyncError(of: .cancelled) }
        defer { takingIn.unlock() }
        _ = try writer.log
        try await checkWritable()
        guard let name = try Tributaries.all(storage).first(where: { $0.text == commit }) else {
            throw SyncError(
                .operationNotFound, "no changes of another process wait as \(commit)",
                hint: "`waitingChanges()` lists what waits.")
        }
        try Tributaries.remove([name], of: storage)
        note { $0.waiting.removeAll { $0.commit == commit } }
    }
}
