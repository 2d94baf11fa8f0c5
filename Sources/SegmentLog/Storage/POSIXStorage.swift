// The real disk: a directory of the system, reached by plain calls that are repeated when a signal interrupts them: by
// its path, or, once it is held, through a descriptor of the directory itself. Every descriptor closes on exec. What the
// system refuses becomes a `StorageError` with the name as the log knows it; only an error about the directory itself
// has its path. Open files are in POSIXFile.swift.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A directory of the system's file tree.
public struct POSIXStorage: LogStorage {
    /// The path of the directory.
    public let location: String
    /// The directory itself, if it is held; otherwise every call looks up the path.
    private let directory: POSIXDirectory?

    /// The directory at a path, which need not exist yet. `~` at its beginning stands for the user's own directory.
    public init(directory path: String) {
        var path = expandingHome(path)[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        location = path.isEmpty ? "." : String(path)
        directory = nil
    }

    private init(_ location: String, _ directory: POSIXDirectory) {
        self.location = location
        self.directory = directory
    }

    public func held() throws(StorageError) -> any LogStorage {
        if directory != nil { return self }
        return POSIXStorage(location, try POSIXDirectory(path: location))
    }

    /// The type of the network file system the directory is on; nil if it is on a local one, or if that cannot be
    /// told. Locks and syncs over a network promise less than the log needs.
    public func networkFileSystem() -> String? {
        networkFileSystemType(at: location)
    }

    public func names(in directory: String) throws(StorageError) -> [String] {
        let descriptor = openDescriptor(path(directory), in: base, flags: O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw failure("list", directory) }
        guard let stream = fdopendir(descriptor) else {
            let error = failure("list", directory)
            close(descriptor)
            throw error
        }
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
        if !directory.isEmpty {
            _ = try makeDirectory(path(directory), name: directory)
        } else if self.directory == nil {
            try createRoot()
        }
    }

    public func syncDirectory(_ directory: String) throws(StorageError) {
        try syncDirectory(at: path(directory), name: directory)
    }

    public func openForReading(_ name: String) throws(StorageError) -> any ReadableFile {
        try open(name, flags: O_RDONLY)
    }

    public func openForWriting(
        _ name: String, creating creation: FileCreation
    ) throws(StorageError) -> any WritableFile {
        let flags = creation == .never ? O_RDWR : O_RDWR | O_CREAT
        return try open(name, flags: flags, isPrivate: creation == .privately)
    }

    public func rename(_ name: String, to newName: String) throws(StorageError) {
        guard renameat(base, path(name), base, path(newName)) == 0 else { throw failure("rename", name) }
    }

    public func remove(_ name: String) throws(StorageError) {
        guard unlinkat(base, path(name), 0) == 0 else { throw failure("remove", name) }
    }

    public func removeDirectory(_ directory: String) throws(StorageError) {
        guard unlinkat(base, path(directory), AT_REMOVEDIR) == 0 else { throw failure("removeDirectory", directory) }
    }

    public var place: String? { (try? FileIdentity(path(""), in: base, name: ""))?.text }

    public func lock(_ name: String) throws(StorageError) -> (any FileLock)? {
        let file = try open(name, flags: O_RDWR | O_CREAT, operation: "lock")
        let number = file.withDescriptor { descriptor in
            retrying { flock(descriptor, LOCK_EX | LOCK_NB) } == 0 ? 0 : errno
        }
        switch number {
        case 0: return try POSIXLock(file, name: name, in: self)
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
    /// What relative paths begin at.
    private var base: Int32 { directory?.descriptor ?? AT_FDCWD }

    private func path(_ name: String) -> String {
        if directory != nil { return name.isEmpty ? "." : name }
        return name.isEmpty ? location : location == "/" ? "/" + name : location + "/" + name
    }

    /// Whether a name leads to a file, and the path to the directory that is held.
    func leads(_ name: String, to file: FileIdentity) throws(StorageError) -> Bool {
        if let directory, try !directory.isInPlace() { return false }
        do throws(StorageError) {
            return try FileIdentity(path(name), in: base, name: name) == file
        } catch {
            if error.isMissing { return false }
            throw error
        }
    }

    private func open(
        _ name: String, flags: Int32, isPrivate: Bool = false, operation: String = "open"
    ) throws(StorageError) -> POSIXFile {
        // Readable by all as far as the user's mask allows, like every file one makes.
        let descriptor = openDescriptor(path(name), in: base, flags: flags, mode: isPrivate ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw failure(operation, name) }
        let file = POSIXFile(descriptor: descriptor, name: name)
        // A directory opens for reading without complaint, and would fail only at the first read.
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(operation, name) }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw StorageError(number: EISDIR, operation: operation, name: name)
        }
        // One that was there may have other rights.
        if isPrivate, status.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 { throw failure(operation, name) }
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
        guard mkdirat(base, path, 0o755) != 0 else { return true }
        guard errno == EEXIST else { throw failure("createDirectory", name) }
        var status = stat()
        guard fstatat(base, path, &status, 0) == 0 else { throw failure("createDirectory", name) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw StorageError(number: ENOTDIR, operation: "createDirectory", name: name.isEmpty ? location : name)
        }
        return false
    }

    private func syncDirectory(at path: String, name: String) throws(StorageError) {
        let descriptor = openDescriptor(path, in: base, flags: O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw failure("syncDirectory", name) }
        let number = PlatformSync.syncDirectory(descriptor: descriptor)
        close(descriptor)
        guard number == 0 else {
            throw StorageError(number: number, operation: "syncDirectory", name: name.isEmpty ? location : name)
        }
    }

    private func parent(of path: String) -> String {
        guard var end = path.lastIndex(of: "/") else { return path == "." ? ".." : "." }
        while end > path.startIndex, path[path.index(before: end)] == "/" { end = path.index(before: end) }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// The error of the call that has just failed.
    private func failure(_ operation: String, _ name: String) -> StorageError {
        StorageError(number: errno, operation: operation, name: name.isEmpty ? location : name)
    }
}

func openDescriptor(_ path: String, in base: Int32 = AT_FDCWD, flags: Int32, mode: mode_t = 0) -> Int32 {
    retrying { openat(base, path, flags | O_CLOEXEC, mode) }
}

/// A path with the user's own directory in the place of `~`, as a shell reads it.
package func expandingHome(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let home = getenv("HOME"), home[0] != 0 else { return path }
    return String(cString: home) + path.dropFirst()
}

/// Repeats a call while signals interrupt it.
@inline(__always)
func retrying<Result: FixedWidthInteger & SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
