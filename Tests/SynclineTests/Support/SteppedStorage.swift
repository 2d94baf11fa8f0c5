// A storage for one reader, with a step by another party before each of its calls.

import Dispatch
import SegmentLog
import SynclineGround

final class SteppedStorage: LogStorage {
    private let base: any LogStorage
    private let step: @Sendable () async throws -> Void
    private let limit: Int
    private let state = Mutex((isOn: false, steps: 0))

    init(_ base: any LogStorage, limit: Int, _ step: @escaping @Sendable () async throws -> Void) {
        self.base = base
        self.limit = limit
        self.step = step
    }

    var isOn: Bool {
        get { state.withLock { $0.isOn } }
        set { state.withLock { $0.isOn = newValue } }
    }

    /// How many steps were run.
    var steps: Int { state.withLock { $0.steps } }

    /// Runs the step to its end. The reader has a thread of its own, so that it may wait.
    private func before() {
        let isDue = state.withLock { state in
            guard state.isOn, state.steps < limit else { return false }
            state.steps += 1
            return true
        }
        guard isDue else { return }
        let isDone = DispatchSemaphore(value: 0)
        Task {
            try? await step()
            isDone.signal()
        }
        isDone.wait()
    }

    var location: String { base.location }

    func names(in directory: String) throws(StorageError) -> [String] {
        before()
        return try base.names(in: directory)
    }

    func createDirectory(_ directory: String) throws(StorageError) {
        before()
        try base.createDirectory(directory)
    }

    func syncDirectory(_ directory: String) throws(StorageError) { try base.syncDirectory(directory) }

    func openForReading(_ name: String) throws(StorageError) -> any ReadableFile {
        before()
        return try base.openForReading(name)
    }

    func openForWriting(_ name: String, creating creation: FileCreation) throws(StorageError) -> any WritableFile {
        before()
        return try base.openForWriting(name, creating: creation)
    }

    func rename(_ name: String, to newName: String) throws(StorageError) { try base.rename(name, to: newName) }

    func remove(_ name: String) throws(StorageError) { try base.remove(name) }

    func lock(_ name: String) throws(StorageError) -> (any FileLock)? {
        before()
        return try base.lock(name)
    }
}
