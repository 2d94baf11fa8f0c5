// The code of "Background sync" that records the users of the store.

import Syncline

/// Lets go of the store when neither the app in the foreground nor a background task uses it.
@MainActor
final class StoreUse {
    nonisolated let database: SyncDatabase
    private var isInForeground = false
    private var tasks = 0
    private var last: Task<Void, any Error>?

    init(_ database: SyncDatabase) {
        self.database = database
    }

    /// Tells whether the app is in the foreground. The task throws `store-locked` if another process has the store.
    @discardableResult
    func setForeground(_ isInForeground: Bool) -> Task<Void, any Error> {
        self.isInForeground = isInForeground
        return settle()
    }

    /// Suspends or resumes the store, after the call before this one has done so.
    private func settle() -> Task<Void, any Error> {
        let task = Task { [last] in
            _ = await last?.result
            if isInForeground || tasks > 0 { try await database.resume() } else { try await database.suspend() }
        }
        last = task
        return task
    }

    /// Syncs in the time that the system gives the app. Returns whether everything was sent and fetched.
    func syncInBackground(_ tables: [String]? = nil) async -> Bool {
        tasks += 1
        var report: SyncReport?
        if case .success = await settle().result {  // otherwise another process has the store, and may sync
            report = try? await database.sync(tables)
        }
        tasks -= 1
        _ = await settle().result
        return report.map { $0.reason == nil } ?? false
    }
}
