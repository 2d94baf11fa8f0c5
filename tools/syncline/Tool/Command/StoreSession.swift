// The store of a command. A single command opens it and closes it; in a shell it stays open from the first command that
// needs it to the end of the input.

package import SegmentLog
package import Syncline

/// A store that stays open. Commands that overlap get the same one.
package actor StoreSession {
    private var current: (path: String, opening: Task<SyncDatabase, any Error>)?

    /// When the store was opened, and its last event then.
    private(set) var opened: (time: Int64, event: UInt64)?
    private let clock: any LogClock

    package init(clock: any LogClock = SystemClock()) {
        self.clock = clock
    }

    /// The open store, if it is at this path.
    func database(at path: String) async -> SyncDatabase? {
        guard let current, current.path == path else { return nil }
        return try? await current.opening.value
    }

    /// Opens the store at a path and keeps it open, instead of the one before.
    func open(_ path: String, _ configuration: SyncConfiguration) async throws -> SyncDatabase {
        if configuration.creation != .always, let known = await database(at: path) { return known }
        let before = current
        let opening = Task { () throws -> SyncDatabase in
            try await SyncDatabase.open(at: path, configuration)
        }
        current = (path, opening)
        do {
            let database = try await opening.value
            if let before { try? await before.opening.value.close() }
            opened = (clock.now().rawValue, database.lastEvent.rawValue)
            return database
        } catch {
            if current?.opening == opening { current = before }
            throw error
        }
    }

    /// Closes the store. Returns what failed after its changes were stored.
    @discardableResult
    package func close() async throws -> SyncError? {
        let opening = current?.opening
        current = nil
        return try await (try? await opening?.value)?.closeAfterChanges()
    }
}
