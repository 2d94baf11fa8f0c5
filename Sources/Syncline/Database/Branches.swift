// Branches of a store: stores of their own in a folder of its directory, which begin with a state of it and are never synced.
// One is landed by one commit, which also notes that it was: so it is never landed twice.

package import SegmentLog
package import SynclineCore

package enum Branches {
    /// The folder of a store's directory that they are in.
    package static let folder = "branches"

    /// Whether a name can be a branch's.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 100
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }

    /// The names of a store's branches, sorted.
    package static func names(_ store: any LogStorage) throws(SyncError) -> [String] {
        try store.ifThere { () throws(StorageError) in
            guard try store.names(in: "").contains(folder) else { return [] }
            return try store.names(in: folder).filter(isName).sorted()
        } ?? []
    }

    /// Makes the folder of a store's branches. It is durable, so that a branch in it is.
    package static func makeFolder(of store: any LogStorage) throws(SyncError) {
        try store.makeFolder(folder)
    }

    /// Removes a branch. It has no name any more before the first of its files goes. What can be removed goes even if something
    /// else can't; then this throws, and the next removal tries again.
    package static func remove(_ name: String, of store: any LogStorage) throws(SyncError) {
        try store.files { () throws(StorageError) in
            let discarded = "\(name)\(discardedSuffix)"
            if try store.names(in: folder).contains(discarded) { try store.removeTree("\(folder)/\(discarded)") }
            try store.rename("\(folder)/\(name)", to: "\(folder)/\(discarded)")
            try store.syncDirectory(folder)
        }
        _ = try removeLeftovers(store)
    }

    /// Removes what is left of branches whose removal did not end, because a process died or a file could not be removed.
    /// - Returns: The names of these branches.
    package static func removeLeftovers(_ store: any LogStorage) throws(SyncError) -> [String] {
        try store.files { () throws(StorageError) in
            guard try store.names(in: "").contains(folder) else { return [] }
            let left = try store.names(in: folder).filter { $0.hasSuffix(discardedSuffix) }
            if left.isEmpty { return [] }
            var failure: StorageError?
            for name in left {
                do throws(StorageError) { try store.removeTree("\(folder)/\(name)") } catch {
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
            try store.syncDirectory(folder)
            return left.map { String($0.dropLast(discardedSuffix.count)) }
        }
    }

    /// Makes the log of a branch: it begins after an event, with a checkpoint of the state up to it.
    package static func begin(
        _ branch: any LogStorage, with projector: Projector, _ point: BranchPoint, time: Int64
    ) throws(SyncError) {
        let log = try StateTransfer.begin(branch, with: projector)
        let setting = Event(time: time, .configured(name: BranchPoint.setting, value: point.value))
        try log.add(RecordBatch(setting.bytes), .durable)
        try log.end()
    }

    /// Returns the point that a branch begins at, the state of then, and its current state.
    package static func content(
        of branch: any LogStorage
    ) throws(SyncError) -> (point: BranchPoint, base: StateReader, present: StateReader) {
        let projector = try StateLoader(branch).load()
        let present = projector.reader(of: projector.store.endCommit())
        guard let point = try present.branchPoint else {
            throw SyncError(
                .storeCorrupt, "\(branch.location) is not a branch: it does not name its starting point")
        }
        return (point, try base(of: branch, at: point), present)
    }

    /// Returns the state that a branch began with, which its changes are compared with.
    private static func base(of branch: any LogStorage, at point: BranchPoint) throws(SyncError) -> StateReader {
        let base = try StateLoader(branch).earliest()
        guard base.through == point.event else {
            throw SyncError(
                .storeCorrupt, "the branch's first state is lost, so its changes are not known",
                hint: Hint.branchBase, address: "@\(point.event)")
        }
        return base.reader(of: base.store.snapshot)
    }

    private static let discardedSuffix = ".gone"
}

extension SyncDatabase {
    /// Throws if the store has branches: they keep rows as they were, which could not be compared with other ones.
    func checkNoBranches(because reason: String) throws(SyncError) {
        let names = try Branches.names(storage)
        if names.isEmpty { return }
        throw SyncError(
            .invalidConfiguration, "\(reason), and the store has branches: \(names.joined(separator: ", "))",
            hint: Hint.branches)
    }

    /// Makes the changes of a branch here, in one transaction.
    /// - Parameter over: Whether rows that are others by now are changed, too.
    /// - Returns: The transaction's event, nil if nothing was to be changed, and the changes.
    package func land(
        _ point: BranchPoint, from base: StateReader, to branch: StateReader, over: Bool
    ) async throws -> (event: UInt64?, changes: [Landing.Change]) {
        try await writer.perform(.durable) { engine in
            let isLanded = try engine.reader.setting(point.landed) != nil
            if isLanded { return (nil, []) }
            // Decided on the state that the transaction is made in.
            let landing = try Landing(from: base, to: branch, onto: engine.reader)
            guard over || landing.moved.isEmpty else { throw Branches.moved(landing.moved) }
            let (_, event) = try engine.local(TransactionHeading(isGrouped: true)) { transaction throws(SyncError) in
                for change in landing.changes { try transaction.make(change) }
            }
            try engine.record(.configured(name: point.landed, value: .integer(Int64(event ?? 0))))
            return (event, landing.changes)
        }
    }
}

extension Branches {
    fileprivate static func moved(_ changes: [Landing.Change]) -> SyncError {
        let rows = changes.map { RowKey(table: $0.table, id: $0.id) }
        return SyncError(
            .branchConflict, "rows that the branch changed have changed here since it began: \(rows.shown)",
            hint: "See the branch's plan. If you land over them, the branch's values replace theirs.")
    }
}

extension SyncTransaction {
    fileprivate func make(_ change: Landing.Change) throws(SyncError) {
        let item = Value.object([.init("id", .string(change.id))] + change.columns.members)
        switch change.kind {
        case .insert: try insert(change.table, item)
        case .update: try update(change.table, item)
        case .delete: try delete(change.table, id: change.id)
        }
    }
}
