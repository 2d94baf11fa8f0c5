// Branches as an app uses them: drafts of changes that are landed in the store as one transaction, or dropped.

import SegmentLog
public import SynclineCore

/// A branch of a store: a draft that can be changed without changing the store.
public struct Branch: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// The last event of the store that it contains.
    public var event: EventNumber
    /// Whether its changes are in the store already, so that only its files are left.
    public var isLanded: Bool
}

/// The changes that landing a branch would make in the store.
public struct BranchPlan: Hashable, Sendable {
    /// The rows with the columns of the app, as they are in the store and as they will be.
    public var changes: [RowDifference] = []
    /// Those of them that have changed in the store since the branch was made.
    public var moved: [RowDifference] = []
}

extension SyncDatabase {
    /// Returns the branches of the store, by name.
    @concurrent
    public func branches() async throws(SyncError) -> [Branch] {
        let reader = try reader
        return try Branches.names(storage).map { name throws(SyncError) in
            let point = try content(ofBranch: name).point
            return Branch(
                name: name, event: EventNumber(rawValue: point.event),
                isLanded: try reader.setting(point.landed) != nil)
        }
    }

    /// Makes a branch, which begins with the state of the store now or as of an event. Its name has letters, digits, `-`
    /// and `_`. While there are branches, a schema whose migrations change rows is refused.
    @concurrent
    public func makeBranch(_ name: String, at event: EventNumber? = nil) async throws(SyncError) {
        // A follower has none, and a branch neither.
        _ = try writer.log
        let reader = try reader
        try reader.checkNotBranch()
        guard Branches.isName(name) else {
            throw SyncError(
                .invalidConfiguration, "this can't be the name of a branch", hint: "Use letters, digits, - and _.")
        }
        let path = try path(ofBranch: name)
        _ = try Branches.removeLeftovers(storage)
        let projector = try readHistory { () throws(SyncError) in
            try StateLoader(storage).load(through: event?.rawValue)
        }
        guard try projector.declaration?.version == reader.declaration?.version else {
            throw SyncError(
                .invalidConfiguration, "the schema has changed since @\(projector.through)",
                hint: "Begin with a later event.")
        }
        try Branches.makeFolder(of: storage)
        guard let folder = try DraftFolder(of: path) else {
            throw SyncError(.storeExists, "the branch \(name) exists already", hint: "Choose another name, or drop it.")
        }
        do throws(SyncError) {
            let environment = configuration.environment
            let point = BranchPoint(id: environment.newID(), event: projector.through)
            try Branches.begin(folder.storage, with: projector, point, time: environment.milliseconds())
            try folder.putInPlace()
        } catch {
            folder.remove()
            throw error
        }
    }

    /// Opens a branch. It takes changes of rows only, and is not synced. Close it before it is landed.
    @concurrent
    public func openBranch(_ name: String) async throws(SyncError) -> SyncDatabase {
        _ = try reader
        var configuration = configuration
        configuration.creation = .never
        (configuration.schema, configuration.backend, configuration.recording) = (nil, nil, nil)
        configuration.isShared = false
        return try await SyncDatabase.open(try storage(ofBranch: name), configuration)
    }

    /// Returns the changes that landing a branch would make now.
    @concurrent
    public func landing(of name: String) async throws(SyncError) -> BranchPlan {
        let reader = try reader
        let branch = try content(ofBranch: name)
        var plan = BranchPlan()
        if try reader.setting(branch.point.landed) != nil { return plan }
        for change in try Landing(from: branch.base, to: branch.present, onto: reader).changes {
            let now = try reader.row(change.table, change.id)?.columns.own
            let after = change.kind == .delete ? nil : (now ?? .empty).merged(with: change.columns)
            let difference = RowDifference(
                table: change.table, id: change.id, before: now, after: after, try reader.types(of: change.table))
            plan.changes.append(difference)
            if change.hasMoved { plan.moved.append(difference) }
        }
        return plan
    }

    /// Makes the changes of a branch in the store, as one transaction, and removes the branch. Returns the event, or nil
    /// if nothing was left to change.
    ///
    /// If a row that the branch changed has changed in the store, too, it throws `branch-conflict`, and nothing is stored;
    /// with `over`, the branch's values replace those of such rows.
    @discardableResult
    @concurrent
    public func land(_ name: String, over: Bool = false) async throws(SyncError) -> EventNumber? {
        // Nothing changes it meanwhile.
        let branch = try await openBranch(name)
        let event: UInt64?
        do {
            let known = try content(ofBranch: name)
            event = try await land(known.point, from: known.base, to: branch.reader, over: over).event
        } catch {
            try? await branch.close()
            throw error as? SyncError ?? SyncError(.internalError, "\(error)")
        }
        try? await branch.close()
        try Branches.remove(name, of: storage)
        return event.map { EventNumber(rawValue: $0) }
    }

    /// Removes a branch with its changes.
    @concurrent
    public func dropBranch(_ name: String) async throws(SyncError) {
        _ = try writer.log
        if try Branches.names(storage).contains(name) { return try Branches.remove(name, of: storage) }
        guard try Branches.removeLeftovers(storage).contains(name) else { throw Branches.missing(name) }
    }

    // MARK: Places

    private func path(ofBranch name: String) throws(SyncError) -> String {
        guard storage is POSIXStorage else {
            throw SyncError(.invalidConfiguration, "only a store in a directory can have branches")
        }
        return "\(storage.location)/\(Branches.folder)/\(name)"
    }

    private func storage(ofBranch name: String) throws(SyncError) -> POSIXStorage {
        guard try Branches.names(storage).contains(name) else { throw Branches.missing(name) }
        return POSIXStorage(directory: try path(ofBranch: name))
    }

    private func content(
        ofBranch name: String
    ) throws(SyncError) -> (point: BranchPoint, base: StateReader, present: StateReader) {
        let storage = try storage(ofBranch: name)
        return try HistoryReading.run(storage) { () throws(SyncError) in try Branches.content(of: storage) }
    }
}

extension Branches {
    fileprivate static func missing(_ name: String) -> SyncError {
        SyncError(.noStore, "the store has no branch \(name)")
    }
}
