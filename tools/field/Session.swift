// A user's store, from signing in to signing out.

import Syncline

struct Session: Sendable {
    let account: Account
    let store: FieldStore

    /// Opens the store of a user, in a directory of their own, and keeps it in sync.
    static func begin(
        _ account: Account, in folder: String, _ configuration: SyncConfiguration
    ) async throws -> Session {
        var configuration = configuration
        configuration.schema = FieldStore.schema
        configuration.credentials = account
        let path = "\(folder)/\(directory(of: account.user))"
        let session = Session(
            account: account, store: try await FieldStore(SyncDatabase.open(at: path, configuration)))
        try session.startSync()
        return session
    }

    /// A name that every file system accepts and that differs for each user.
    static func directory(of user: String) -> String {
        user.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func startSync() throws {
        try store.database.startAutomaticSync(AutomaticSyncSettings(tables: FieldStore.tables))
    }

    /// Continues after the user has signed in again.
    func resume(with token: String) async {
        await account.use(token)
        store.database.automaticSync?.syncNow()
    }

    /// Returns when the server has all changes made so far, and the device has what the server has.
    func catchUp() async throws {
        try await store.database.caughtUp(including: FieldStore.tables)
    }

    /// Sends what is pending, then removes everything that this user had on the device. Throws `pending-changes`, and
    /// keeps the store, if something could not be sent; `discardingUnsent` gives it up.
    func end(discardingUnsent: Bool = false) async throws {
        if !discardingUnsent { _ = try await store.database.push() }
        await store.database.automaticSync?.stop()
        do {
            try await store.database.erase(force: discardingUnsent)
        } catch {
            try startSync()  // the user stays signed in
            throw error
        }
    }
}
