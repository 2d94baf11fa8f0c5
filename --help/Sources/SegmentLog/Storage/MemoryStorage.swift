// A directory tree in memory: for tests, for tools that work on a copy, and for logs that need not outlive the
// process. It behaves like a disk that never fails and never loses anything. As on a disk, removed files live on
// while they are open, and a lock excludes other users of the same instance.

import SynclineGround

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A directory tree in memory.
public final class MemoryStorage: LogStorage {
    fileprivate enum Entry: Sendable {
        case directory
        case file(MemoryInode)
    }

    /// Every file and directory by its full name; the root has no entry.
    private let entries: Mutex<[String: Entry]>

    /// Creates an empty tree.
    public init() {
        entries = Mutex([:])
    }

    private init(_ entries: [String: Entry]) {
        self.entries = Mutex(entries)
    }

    public var location: String { "memory" }

    public func names(in directory: String) throws(StorageError) -> [String] {
        try entries.withLock { (entries) throws(StorageError) in
            try entries.checkDirectory(directory, operation: "list", name: directory)
            return entries.keys.compactMap { name in
                let (parent, leaf) = parts(name)
                return parent == directory[...] ? leaf : nil
            }
        }
    }

    public func createDirectory(_ directory: String) throws(StorageError) {
        guard !directory.isEmpty else { return }
        try entries.withLock { (entries) throws(StorageError) in
            switch try entries.find(directory, operation: "createDirectory") {
            case .directory: break
            case .file: throw StorageError(number: ENOTDIR, operation: "createDirectory", name: directory)
            case nil: entries[directory] = .directory
            }
        }
    }

    public func syncDirectory(_ directory: String) throws(StorageError) {
        try entries.withLock { (entries) throws(StorageError) in
            try entries.checkDirectory(directory, operation: "syncDirectory", name: directory)
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
        try entries.withLock { (entries) throws(StorageError) in
            // Checks both parents before the files in them, as a system does.
            try entries.checkParent(of: name, operation: "rename", name: name)
            try entries.checkParent(of: newName, operation: "rename", name: name)
            let inode = try entries.file(name, operation: "rename")
            if case .directory = try entries.find(newName, operation: "rename") {
                throw StorageError(number: EISDIR, operation: "rename", name: name)
            }
            entries[name] = nil
            entries[newName] = .file(inode)
        }
    }

    public func remove(_ name: String) throws(StorageError) {
        try entries.withLock { (entries) throws(StorageError) in
            _ = try entries.file(name, operation: "remove")
            entries[name] = nil
        }
    }

    public func lock(_ name: String) throws(StorageError) -> (any FileLock)? {
        let inode = try open(name, create: true, operation: "lock").inode
        return inode.takeLock() ? MemoryLock(inode, name: name, in: self) : nil
    }

    fileprivate func leads(_ name: String, to inode: MemoryInode) -> Bool {
        entries.withLock { entries in
            if case .file(let found) = entries[name] { found === inode } else { false }
        }
    }

    private func open(
        _ name: String, create: Bool, operation: String = "open"
    ) throws(StorageError) -> MemoryFile {
        let inode = try entries.withLock { (entries) throws(StorageError) in
            if create, try entries.find(name, operation: operation) == nil {
                entries[name] = .file(MemoryInode())
            }
            return try entries.file(name, operation: operation)
        }
        return MemoryFile(inode, name: name)
    }
}

// MARK: - For tests and tools

extension MemoryStorage {
    /// Returns an independent copy of the whole tree, without any locks held.
    public func copy() -> MemoryStorage {
        MemoryStorage(
            entries.withLock { entries in
                entries.mapValues { entry in
                    switch entry {
                    case .directory: .directory
                    case .file(let inode): .file(MemoryInode(inode.contents))
                    }
                }
            })
    }

    /// Returns the bytes of a file, or nil if it does not exist.
    public func contents(of name: String) -> [UInt8]? {
        entries.withLock { entries in
            if case .file(let inode) = entries[name] { inode.contents } else { nil }
        }
    }

    /// Sets the bytes of a file, and creates it and its parent directories if they are missing.
    public func setContents(_ bytes: [UInt8], of name: String) {
        entries.withLock { entries in
            if case .file(let inode) = entries[name] {
                inode.contents = bytes
                return
            }
            entries[name] = .file(MemoryInode(bytes))
            var directory = parts(name).parent
            while !directory.isEmpty {
                entries[String(directory)] = .directory
                directory = parts(directory).parent
            }
        }
    }

    /// Returns the full names of all files, and of all directories, sorted.
    public func allNames() -> (files: [String], directories: [String]) {
        entries.withLock { entries in
            var files: [String] = []
            var directories: [String] = []
            for (name, entry) in entries {
                switch entry {
                case .directory: directories.append(name)
                case .file: files.append(name)
                }
            }
            return (files.sorted(), directories.sorted())
        }
    }
}

/// Returns what precedes the last slash, and what follows it.
private func parts(_ name: some StringProtocol) -> (parent: Substring, leaf: String) {
    guard let slash = name.lastIndex(of: "/") else { return ("", String(name)) }
    return (Substring(name[..<slash]), String(name[name.index(after: slash)...]))
}

extension [String: MemoryStorage.Entry] {
    /// Returns what has the name, if anything; throws if its parent is not a directory.
    fileprivate func find(_ name: String, operation: String) throws(StorageError) -> Value? {
        if name.isEmpty { return .directory }
        if let entry = self[name] { return entry }
        try checkParent(of: name, operation: operation, name: name)
        return nil
    }

    fileprivate func file(_ name: String, operation: String) throws(StorageError) -> MemoryInode {
        switch try find(name, operation: operation) {
        case .file(let inode): return inode
        case .directory: throw StorageError(number: EISDIR, operation: operation, name: name)
        case nil: throw StorageError(number: ENOENT, operation: operation, name: name)
        }
    }

    fileprivate func checkParent(of path: String, operation: String, name: String) throws(StorageError) {
        try checkDirectory(String(parts(path).parent), operation: operation, name: name)
    }

    /// Throws if the directory of a name does not exist.
    fileprivate func checkDirectory(_ directory: String, operation: String, name: String) throws(StorageError) {
        guard !directory.isEmpty else { return }
        switch self[directory] {
        case .directory: return
        case .file: throw StorageError(number: ENOTDIR, operation: operation, name: name)
        case nil:
            try checkParent(of: directory, operation: operation, name: name)
            throw StorageError(number: ENOENT, operation: operation, name: name)
        }
    }
}

/// A file apart from its name, so that it lives on while it is open.
private final class MemoryInode: Sendable {
    struct State {
        var bytes: [UInt8]
        var isLocked = false
    }

    let state: Mutex<State>

    init(_ bytes: [UInt8] = []) {
        state = Mutex(State(bytes: bytes))
    }

    var contents: [UInt8] {
        get { state.withLock { $0.bytes } }
        set { state.withLock { $0.bytes = newValue } }
    }

    /// Takes the lock; returns false if it is already taken.
    func takeLock() -> Bool {
        state.withLock { state in
            defer { state.isLocked = true }
            return !state.isLocked
        }
    }

    func releaseLock() {
        state.withLock { $0.isLocked = false }
    }
}

private final class MemoryFile: WritableFile {
    /// The largest file: a number read from damaged data must not use up all memory.
    private static let largest: UInt64 = 1 << 32

    let inode: MemoryInode
    private let name: String
    private let isClosed = Atomic<Bool>(false)

    init(_ inode: MemoryInode, name: String) {
        self.inode = inode
        self.name = name
    }

    func size() throws(StorageError) -> UInt64 {
        try checkOpen("size")
        return inode.state.withLock { UInt64($0.bytes.count) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        try checkOpen("read")
        return inode.state.withLock { state in
            guard offset < UInt64(state.bytes.count) else { return 0 }
            let start = Int(offset)
            let count = min(buffer.count, state.bytes.count - start)
            state.bytes.withUnsafeBytes { bytes in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
            }
            return count
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        try checkOpen("write")
        guard bytes.count > 0 else { return 0 }
        let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
        guard !overflow, end <= MemoryFile.largest else {
            throw StorageError(number: EFBIG, operation: "write", name: name)
        }
        let start = Int(offset)
        inode.state.withLock { $0.bytes.write(bytes, at: start) }
        return bytes.count
    }

    func resize(to size: UInt64) throws(StorageError) {
        try checkOpen("resize")
        guard size <= MemoryFile.largest else {
            throw StorageError(number: EFBIG, operation: "resize", name: name)
        }
        inode.state.withLock { $0.bytes.resize(to: Int(size)) }
    }

    func sync(_ level: SyncLevel) throws(StorageError) {
        try checkOpen("sync")
    }

    func close() {
        isClosed.store(true, ordering: .releasing)
    }

    private func checkOpen(_ operation: String) throws(StorageError) {
        guard !isClosed.load(ordering: .acquiring) else {
            throw StorageError(number: EBADF, operation: operation, name: name)
        }
    }
}

private final class MemoryLock: FileLock {
    private let inode: MemoryInode
    private let name: String
    private let storage: MemoryStorage
    private let isReleased = Atomic<Bool>(false)

    init(_ inode: MemoryInode, name: String, in storage: MemoryStorage) {
        self.inode = inode
        self.name = name
        self.storage = storage
    }

    deinit { release() }

    var isOwned: Bool { !isReleased.load(ordering: .acquiring) }

    func isInPlace() throws(StorageError) -> Bool { storage.leads(name, to: inode) }

    func note(_ text: String) {
        if isOwned { inode.contents = Array(text.utf8) }
    }

    func release() {
        if !isReleased.exchange(true, ordering: .acquiringAndReleasing) { inode.releaseLock() }
    }
}

private let zeros = [UInt8](repeating: 0, count: 4096)

extension [UInt8] {
    /// Puts bytes at an offset, growing the array as needed and filling a gap with zeros.
    package mutating func write(_ new: UnsafeRawBufferPointer, at offset: Int) {
        if offset > count { resize(to: offset) }
        let within = Swift.min(new.count, count - offset)
        if within > 0 {
            withUnsafeMutableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: new.prefix(within)))
            }
        }
        append(contentsOf: new.dropFirst(within))
    }

    /// Truncates the array, or extends it with zeros.
    package mutating func resize(to size: Int) {
        if size < count {
            removeLast(count - size)
        } else {
            // Appended in array slices: `repeatElement` is appended byte by byte.
            while count < size { append(contentsOf: zeros.prefix(size - count)) }
        }
    }
}
