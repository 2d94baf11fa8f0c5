// Whose a store is: the user with whose token it first spoke to its server. No other user's token may send what waits in
// it, or put rows beside the former's.

/// A user as a store remembers him: by a hash, so that the log has no names.
package struct StoreUser: Hashable, Sendable {
    /// The setting that remembers him.
    package static let setting = "token-user"

    private let mark: String

    /// Names are compared by their bytes, as the server compares them.
    package init(_ name: String) {
        mark = String(hash64(of: name), radix: 16)
    }

    package init?(_ value: Value?) {
        guard case .string(let mark)? = value else { return nil }
        self.mark = mark
    }

    package var value: Value { .string(mark) }
}

extension StateReader {
    /// The user whose the store is; nil if no token has named one yet.
    package var user: StoreUser? {
        get throws(SyncError) { StoreUser(try setting(StoreUser.setting)) }
    }

    /// Returns the events with which the store becomes a user's; none if it is. Throws if anything of another one is left in
    /// it. What was made before the first user came is his.
    ///
    /// - Parameter mayTakeOver: Whether the store of another user, of whom nothing is left, becomes this one's. Its cursors are
    ///   reset: they passed over rows that only this one may see.
    package func admission(of user: StoreUser, mayTakeOver: Bool) throws(SyncError) -> [Event.Body] {
        let taken = Event.Body.configured(name: StoreUser.setting, value: user.value)
        guard let known = try self.user else { return [taken] }
        if known == user { return [] }
        guard mayTakeOver, try tables().isEmpty, try unreadableRows().isEmpty else { throw .otherUser }
        return try cursors().map { .cursorReset(table: $0.table, queryID: $0.queryID) } + [taken]
    }
}

extension SyncError {
    package static var otherUser: SyncError {
        SyncError(
            .otherUser, "the token is not that of the user whose rows and changes the store has",
            hint: "Nothing was sent. Open another store for this user, or erase this one once its changes are pushed.")
    }
}
