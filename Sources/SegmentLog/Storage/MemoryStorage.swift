// A directory tree in memory: for tests, for tools that work on a copy, and for logs that need not outlive the
// process. As on a disk, removed files live on while they are open, and a lock excludes other users of the same
// instance. It never fails and never loses anything, unless a test decides over its calls, or lets it lose what was
// not synced.

import CLibrary
package import SynclineGround

/// A directory tree in memory.
public final class MemoryStorage: LogStorage {
    package struct State: Sendable {
        package var disk: MemoryDisk
        /// What a test decides over the calls.
        package var script: (any DiskScript)?
        /// Whether the machine or the process ended: every call fails from then on.
        package var isEnded = false
        /// Whether the path of the directory leads elsewhere.
        package var isReplaced = false
    }

    package let state: Mutex<State>

    package init(_ disk: MemoryDisk) {
        state = Mutex(State(disk: disk))
    }

    /// Creates an empty tree.
    public init() {
        state = Mutex(State(disk: MemoryDisk(piece: nil)))
    }

    public var location: String { "memory" }

    public func names(in directory: String) throws(StorageError) -> [String] {
        try call("list", directory) { (state) throws(MemoryDisk.Refusal) in
            Array(state.disk.directories[try state.disk.directory(directory)].visible.keys)
        }
    }

    public func createDirectory(_ directory: String) throws(StorageError) {
        try call("createDirectory", directory) { (state) throws(MemoryDisk.Refusal) in
            try state.disk.createDirectory(directory)
        }
    }

    public func syncDirectory(_ directory: String) throws(StorageError) {
        try call("syncDirectory", directory) { (state) throws(MemoryDisk.Refusal) in
            state.disk.syncDirectory(try state.disk.directory(directory))
        }
    }

    public func openForReading(_ name: String) throws(StorageError) -> any ReadableFile {
        try open(name, create: false)
    }

    public func openForWriting(
        _ name: String, creating creation: FileCreation
    ) throws(StorageError) -> any WritableFile {
        try open(name, create: creation != .never)
    }

    public func rename(_ name: String, to newName: String) throws(StorageError) {
        try call("rename", name, detail: " to \(newName)") { (state) throws(MemoryDisk.Refusal) in
            try state.disk.rename(name, to: newName)
        }
    }

    public func remove(_ name: String) throws(StorageError) {
        try call("remove", name) { (state) throws(MemoryDisk.Refusal) in
            try state.disk.remove(name)
        }
    }

    public func removeDirectory(_ directory: String) throws(StorageError) {
        try call("remove", directory) { (state) throws(MemoryDisk.Refusal) in
            try state.disk.removeDirectory(directory)
        }
    }

    public func lock(_ name: String) throws(StorageError) -> (any FileLock)? {
        let inode: Int? = try call("lock", name) { (state) throws(MemoryDisk.Refusal) in
            let inode = try state.disk.openFile(name, create: true)
            if state.disk.inodes[inode].isLocked { return nil }
            state.disk.inodes[inode].isLocked = true
            state.disk.inodes[inode].handles += 1
            return inode
        }
        return inode.map { MemoryLock(storage: self, name: name, inode: $0) }
    }

    /// Returns whether a name leads to a file of the directory that is at the path.
    func leads(_ name: String, to inode: Int) throws(StorageError) -> Bool {
        try call("stat", name) { (state) throws(MemoryDisk.Refusal) in
            !state.isReplaced && (try? state.disk.file(name)) == inode
        }
    }

    private func open(_ name: String, create: Bool) throws(StorageError) -> MemoryFile {
        let inode = try call("open", name) { (state) throws(MemoryDisk.Refusal) in
            let inode = try state.disk.openFile(name, create: create)
            state.disk.inodes[inode].handles += 1
            return inode
        }
        return MemoryFile(storage: self, inode: inode, name: name)
    }

    private func call<Result: Sendable>(
        _ operation: String, _ name: String, detail: @autoclosure () -> String = "",
        _ work: (inout State) throws(MemoryDisk.Refusal) -> Result
    ) throws(StorageError) -> Result {
        try state.withLock { (state) throws(StorageError) in
            if let error = try state.begin(operation, name, detail: detail())?.error { throw error }
            do throws(MemoryDisk.Refusal) {
                return try work(&state)
            } catch {
                let number =
                    switch error {
                    case .missing: ENOENT
                    case .notADirectory: ENOTDIR
                    case .isDirectory: EISDIR
                    case .notEmpty: ENOTEMPTY
                    }
                throw StorageError(number: number, operation: operation, name: name)
            }
        }
    }
}

extension MemoryStorage.State {
    /// Returns what a call does instead of its work; nil for nothing.
    mutating func begin(
        _ operation: String, _ name: String, detail: @autoclosure () -> String = ""
    ) throws(StorageError) -> DiskFault? {
        guard !isEnded else { throw StorageError(number: EBADF, operation: operation, name: name) }
        return script?.begin(operation, name) { detail() }
    }
}

// MARK: - For tests and tools

extension MemoryStorage {
    /// Returns an independent copy of the whole tree, without any locks held.
    public func copy() -> MemoryStorage {
        MemoryStorage(state.withLock { $0.disk }.copied(piece: nil))
    }

    /// Returns the bytes of a file, or nil if it does not exist.
    public func contents(of name: String) -> [UInt8]? {
        state.withLock { state in
            (try? state.disk.file(name)).map { state.disk.inodes[$0].visible }
        }
    }

    /// Sets the bytes of a file, and creates it and its parent directories if they are missing.
    public func setContents(_ bytes: [UInt8], of name: String) {
        let isDone: Void? = state.withLock { try? $0.disk.setContents(bytes, of: name) }
        precondition(isDone != nil, "a directory has the name of the file, or a file that of a directory")
    }

    /// Returns the full names of all files, and of all directories, sorted.
    public func allNames() -> (files: [String], directories: [String]) {
        let names = state.withLock { $0.disk.names() }
        return (names.files.sorted(), names.directories.sorted())
    }
}
