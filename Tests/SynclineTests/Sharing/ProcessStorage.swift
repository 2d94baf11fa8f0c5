// What one process does on a disk that several share. The process can be killed at any of its calls: that call and all later ones
// fail, and its locks are free. Another process can take a step before any call.

import SegmentLog
import SynclineGround

final class ProcessStorage: LogStorage {
    private struct State {
        var callsLeft: Int?
        var step: (@Sendable () -> Void)?
        var isStepping = false
        var locks: [any FileLock] = []
        var locksTaken = 0
    }

    private let disk: any LogStorage
    private let state = Mutex(State())

    /// A process that is killed after a number of calls, if it does not end before.
    init(_ disk: any LogStorage, killedAfter calls: Int? = nil) {
        self.disk = disk
        state.withLock { $0.callsLeft = calls }
    }

    /// What another process does before each call of this one.
    func beforeEachCall(_ step: (@Sendable () -> Void)?) { state.withLock { $0.step = step } }

    /// How many locks the process took.
    var locksTaken: Int { state.withLock { $0.locksTaken } }

    var isKilled: Bool { state.withLock { $0.callsLeft == 0 } }

    func kill() {
        let locks = state.withLock { state in
            state.callsLeft = 0
            defer { state.locks = [] }
            return state.locks
        }
        for lock in locks { lock.release() }
    }

    fileprivate func call<Result>(_ work: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        let step = state.withLock { state -> (@Sendable () -> Void)? in
            if state.isStepping { return nil }
            state.isStepping = state.step != nil
            return state.step
        }
        if let step {
            step()
            state.withLock { $0.isStepping = false }
        }
        let isDead = state.withLock { state in
            guard let left = state.callsLeft else { return false }
            state.callsLeft = max(0, left - 1)
            return left <= 1
        }
        if isDead {
            kill()
            throw StorageError(.other, operation: "call", name: "", number: 5, reason: "the process was killed")
        }
        return try work()
    }

    var location: String { disk.location }

    func names(in directory: String) throws(StorageError) -> [String] {
        try call { () throws(StorageError) in try disk.names(in: directory) }
    }

    func createDirectory(_ directory: String) throws(StorageError) {
        try call { () throws(StorageError) in try disk.createDirectory(directory) }
    }

    func syncDirectory(_ directory: String) throws(StorageError) {
        try call { () throws(StorageError) in try disk.syncDirectory(directory) }
    }

    func openForReading(_ name: String) throws(StorageError) -> any ReadableFile {
        try call { () throws(StorageError) in ProcessFile(try disk.openForReading(name), of: self) }
    }

    func openForWriting(_ name: String, creating creation: FileCreation) throws(StorageError) -> any WritableFile {
        try call { () throws(StorageError) in
            ProcessWritableFile(try disk.openForWriting(name, creating: creation), of: self)
        }
    }

    func rename(_ name: String, to newName: String) throws(StorageError) {
        try call { () throws(StorageError) in try disk.rename(name, to: newName) }
    }

    func remove(_ name: String) throws(StorageError) {
        try call { () throws(StorageError) in try disk.remove(name) }
    }

    func removeDirectory(_ directory: String) throws(StorageError) {
        try call { () throws(StorageError) in try disk.removeDirectory(directory) }
    }

    func lock(_ name: String) throws(StorageError) -> (any FileLock)? {
        let lock = try call { () throws(StorageError) in try disk.lock(name) }
        state.withLock { state in
            state.locksTaken += 1
            if let lock { state.locks.append(lock) }
        }
        return lock
    }
}

/// An open file of a process.
private class ProcessFile: ReadableFile, @unchecked Sendable {
    // Unchecked for the subclass only: both members are constants and Sendable.
    private let file: any ReadableFile
    fileprivate let process: ProcessStorage

    init(_ file: any ReadableFile, of process: ProcessStorage) {
        self.file = file
        self.process = process
    }

    func size() throws(StorageError) -> UInt64 {
        try process.call { () throws(StorageError) in try file.size() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        try process.call { () throws(StorageError) in try file.read(into: buffer, at: offset) }
    }

    func close() { file.close() }
}

private final class ProcessWritableFile: ProcessFile, WritableFile, @unchecked Sendable {
    // Unchecked as its superclass is: the member is a constant and Sendable.
    private let file: any WritableFile

    init(_ file: any WritableFile, of process: ProcessStorage) {
        self.file = file
        super.init(file, of: process)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        try process.call { () throws(StorageError) in try file.write(bytes, at: offset) }
    }

    func resize(to size: UInt64) throws(StorageError) {
        try process.call { () throws(StorageError) in try file.resize(to: size) }
    }

    func sync(_ level: SyncLevel) throws(StorageError) {
        try process.call { () throws(StorageError) in try file.sync(level) }
    }
}
