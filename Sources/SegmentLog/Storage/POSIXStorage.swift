// The real disk: a directory of the system, reached by plain calls that are repeated when a signal interrupts them.
// Every descriptor closes on exec. What the system refuses becomes a `StorageError` with the name as the log knows it,
// never the whole path. Open files are in POSIXFile.swift.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A directory of the system's file tree.
public struct POSIXStorage: LogStorage {
    /// The path of the directory.
    public let location: String

    /// The directory at a path, which need not exist yet.
    public init(directory path: String) {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        location = path.isEmpty ? "." : String(path)
    }

    /// The type of the network file system the directory is on; nil if it is on a local one, or if that cannot be
    /// told. Locks and syncs over a network promise less than the log needs.
    public func networkFileSystem() -> String? {
        networkFileSystemType(at: location)
    }

    public func names(in directory: String) throws(StorageError) -> [String] {
        guard let stream = opendir(path(directory)) else { throw failure("list", directory) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            // The end and an error both give nil; only the number tells them apart.
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw failure("list", directory) }
                return names
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { bytes in
                String(cString: UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    public func createDirectory(_ directory: String) throws(StorageError) {
        if directory.isEmpty {
            try createRoot()
        } else {
            _ = try makeDirectory(path(directory), name: directory)
        }
    }

    public func syncDirectory(_ directory: String) throws(StorageError) {
        try syncDirectory(at: path(directory), name: directory)
    }

    public func openForReading(_ name: String) throws(StorageError) -> any ReadableFile {
        try open(name, flags: O_RDONLY)
    }

    public func openForWriting(_ name: String, create: Bool) throws(StorageError) -> any WritableFile {
        try open(name, flags: create ? O_RDWR | O_CREAT : O_RDWR)
    }

    public func rename(_ name: String, to newName: String) throws(StorageError) {
        #if canImport(Darwin)
            let result = Darwin.rename(path(name), path(newName))
        #else
            let result = Glibc.rename(path(name), path(newName))
        #endif
        guard result == 0 else { throw failure("rename", name) }
    }

    public func remove(_ name: String) throws(StorageError) {
        guard unlink(path(name)) == 0 else { throw failure("remove", name) }
    }

    public func lock(_ name: String) throws(StorageError) -> (any FileLock)? {
        let file = try open(name, flags: O_RDWR | O_CREAT, operation: "lock")
        let number = file.withDescriptor { descriptor in
            retrying { flock(descriptor, LOCK_EX | LOCK_NB) } == 0 ? 0 : errno
        }
        switch number {
        case 0: return POSIXLock(file)
        case EWOULDBLOCK:
            file.close()
            return nil
        default:
            file.close()
            throw StorageError(number: number, operation: "lock", name: name)
        }
    }
}

extension POSIXStorage {
    private func path(_ name: String) -> String {
        name.isEmpty ? location : location == "/" ? "/" + name : location + "/" + name
    }

    private func open(_ name: String, flags: Int32, operation: String = "open") throws(StorageError) -> POSIXFile {
        // Readable by all as far as the user's mask allows, like every file one makes.
        let descriptor = openDescriptor(path(name), flags: flags, mode: 0o644)
        guard descriptor >= 0 else { throw failure(operation, name) }
        let file = POSIXFile(descriptor: descriptor, name: name)
        // A directory opens for reading without complaint, and would fail only at the first read.
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(operation, name) }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw StorageError(number: EISDIR, operation: operation, name: name)
        }
        return file
    }

    /// Makes the root with its parents, and its entry in its parent durable. That sync is done for a root that was
    /// there, too: whoever made it may have died before its own.
    private func createRoot() throws(StorageError) {
        let wasMade = try makeDirectories(location)
        do {
            try syncDirectory(at: parent(of: location), name: "")
        } catch {
            // A root that was there may lie in a directory that is not ours to open.
            guard !wasMade, error.kind == .permission else { throw error }
        }
    }

    private func makeDirectories(_ path: String) throws(StorageError) -> Bool {
        do {
            return try makeDirectory(path, name: "")
        } catch {
            let parent = parent(of: path)
            guard error.kind == .notFound, parent != path else { throw error }
            // The innermost parent that is made here makes itself durable before anything is put into it.
            if try makeDirectories(parent) {
                try syncDirectory(at: self.parent(of: parent), name: "")
            }
            return try makeDirectory(path, name: "")
        }
    }

    /// Makes one directory; false if it was there.
    private func makeDirectory(_ path: String, name: String) throws(StorageError) -> Bool {
        guard mkdir(path, 0o755) != 0 else { return true }
        guard errno == EEXIST else { throw failure("createDirectory", name) }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure("createDirectory", name) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw StorageError(number: ENOTDIR, operation: "createDirectory", name: name)
        }
        return false
    }

    private func syncDirectory(at path: String, name: String) throws(StorageError) {
        let descriptor = openDescriptor(path, flags: O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw failure("syncDirectory", name) }
        let number = PlatformSync.syncDirectory(descriptor: descriptor)
        close(descriptor)
        guard number == 0 else { throw StorageError(number: number, operation: "syncDirectory", name: name) }
    }

    private func parent(of path: String) -> String {
        guard var end = path.lastIndex(of: "/") else { return path == "." ? ".." : "." }
        while end > path.startIndex, path[path.index(before: end)] == "/" { end = path.index(before: end) }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// The error of the call that has just failed.
    private func failure(_ operation: String, _ name: String) -> StorageError {
        StorageError(number: errno, operation: operation, name: name)
    }
}

func openDescriptor(_ path: String, flags: Int32, mode: mode_t = 0) -> Int32 {
    retrying {
        #if canImport(Darwin)
            Darwin.open(path, flags | O_CLOEXEC, mode)
        #else
            Glibc.open(path, flags | O_CLOEXEC, mode)
        #endif
    }
}

/// Repeats a call while signals interrupt it.
@inline(__always)
func retrying<Result: FixedWidthInteger & SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
