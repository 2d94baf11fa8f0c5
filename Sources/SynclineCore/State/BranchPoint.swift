// The beginning of a branch: a store of its own that begins with a state of another one.

/// What a branch records about its beginning, in a setting of its own.
package struct BranchPoint: Hashable, Sendable {
    /// The setting that makes a store a branch.
    package static let setting = "branch-of"

    /// Created once for each branch.
    package var id: String
    /// The last event of its store that it contains.
    package var event: UInt64

    package init(id: String, event: UInt64) {
        self.id = id
        self.event = event
    }

    package init?(_ value: Value?) {
        guard case .string(let id)? = value?[member: "id"], case .integer(let event)? = value?[member: "event"],
            event >= 0
        else { return nil }
        self.init(id: id, event: UInt64(event))
    }

    package var value: Value { .object([.init("id", .string(id)), .init("event", .integer(Int64(event)))]) }

    /// The setting of its store with the event in which it was landed.
    package var landed: String { "landed/" + id }
}

extension StateReader {
    /// The branch point, if the store is a branch; nil otherwise.
    package var branchPoint: BranchPoint? {
        get throws(SyncError) { BranchPoint(try setting(BranchPoint.setting)) }
    }
}
