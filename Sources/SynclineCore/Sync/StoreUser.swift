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

    /// Returns the event with which the store becomes a user's; nil if nothing changes. Throws if it is another's, whatever is
    /// left in it: its history has that user's rows. What was made before the first user came is his.
    ///
    /// - Parameter user: Nil if the token does not name one. Then a store whose user is known can't tell whose it is.
    package func admission(of user: StoreUser?) throws(SyncError) -> Event.Body? {
        guard let known = try self.user else {
            return user.map { .configured(name: StoreUser.setting, value: $0.value) }
        }
        if known == user { return nil }
        throw user == nil ? .unknownUser : .otherUser
    }
}

extension SyncError {
    package static var otherUser: SyncError {
        SyncError(
            .otherUser, "the token is not that of the user whose rows and changes the store has",
            hint: "Nothing was sent. Open another store for this user, or erase this one once its changes are pushed.")
    }

    fileprivate static var unknownUser: SyncError {
        SyncError(
            .otherUser, "the token does not name a user, and the store has the rows and changes of one",
            hint: "Nothing was sent. Say whose token it is: `AccessToken(_:user:)`.")
    }
}
