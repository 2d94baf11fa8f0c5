// Refreshes a store when other processes change files in its directory.

import SegmentLog

/// Calls back when files in a store's directory change, until it is stopped or released.
final class StoreWatch: Sendable {
    private let wakes: AsyncStream<Void>.Continuation
    private let task: Task<Void, Never>
    private let directory: DirectoryWatch?

    /// How often it calls back if the system can't watch the directory.
    private static let interval = Duration.seconds(1)

    /// Calls `refresh` now and after each change. Changes during a call share the next one.
    init(
        _ path: String, _ folders: [String], _ environment: any SyncEnvironment,
        _ refresh: @escaping @Sendable () async -> Void
    ) {
        let (stream, wakes) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wakes = wakes
        let directory = DirectoryWatch(path, folders) { wakes.yield() }
        self.directory = directory
        task = Task {
            if directory == nil {
                repeat { await refresh() } while (try? await environment.wait(for: StoreWatch.interval)) != nil
            }
            for await _ in stream { await refresh() }
        }
        // For what came before the watch began.
        wakes.yield()
    }

    deinit { stop() }

    /// Ends the calls. One may still be running.
    func stop() {
        directory?.stop()
        wakes.finish()
        task.cancel()
    }
}
