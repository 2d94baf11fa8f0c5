// The real disk: a directory of the system, reached by its path, or through its descriptor once it is held. Calls
// are repeated when a signal interrupts them, and every descriptor closes on exec. System errors become a
// `StorageError` with the name the log uses; only an error about the directory itself has its path. Open files are
// in POSIXFile.swift.

import CLibrary

/// A directory of the file system.
public struct POSIXStorage: LogStorage {
    /// The path of the directory.
    public let location: String
    /// The directory itself, if it is held; otherwise every call looks up the path.
    private let directory: POSIXDirectory?

    /// Creates a storage for the directory at a path, which need not exist yet. A leading `~` stands for the user's
    /// home directory.
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

    /// Returns the type of the network file system the directory is on; nil if it is local or not known. Locks and
    /// syncs over a network guarantee less than the log needs.
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
            // Both the end and an error return nil; only errno distinguishes them.
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

    /// The directory that relative paths start from.
    private var base: Int32 { directory?.descriptor ?? AT_FDCWD }

    private func path(_ name: String) -> String {
        if directory != nil { return name.isEmpty ? "." : name }
        return name.isEmpty ? location : location == "/" ? "/" + name : location + "/" + name
    }

    /// Returns whether a name leads to a file, and the path to the directory that is held.
    func leads(_ name: String, to file: FileIdentity) throws(StorageError) -> Bool {
        if let directory, try !directory.isInPlace() { return false }
        return try file.isFound(at: path(name), in: base, name: name)
    }

    private func open(
        _ name: String, flags: Int32, isPrivate: Bool = false, operation: String = "open"
    ) throws(StorageError) -> POSIXFile {
        // Readable by all as far as the user's umask allows.
        let descriptor = openDescriptor(path(name), in: base, flags: flags, mode: isPrivate ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw failure(operation, name) }
        let file = POSIXFile(descriptor: descriptor, name: name)
        // Opening a directory for reading succeeds, and would fail only at the first read.
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(operation, name) }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw StorageError(number: EISDIR, operation: operation, name: name)
        }
        // An existing file may have other permissions.
        if isPrivate, status.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 { throw failure(operation, name) }
        return file
    }

    /// Creates the root and its parents, and makes its entry in its parent durable. An existing root is synced, too:
    /// the process that made it may have died before its own sync.
    private func createRoot() throws(StorageError) {
        let wasMade = try makeDirectories(location)
        do {
            try syncDirectory(at: parent(of: location), name: "")
        } catch {
            // An existing root may be in a directory that this user can't open.
            guard !wasMade, error.kind == .permission else { throw error }
        }
    }

    private func makeDirectories(_ path: String) throws(StorageError) -> Bool {
        do {
            return try makeDirectory(path, name: "")
        } catch {
            let parent = parent(of: path)
            guard error.kind == .notFound, parent != path else { throw error }
            // The innermost parent created here becomes durable before anything is put into it.
            if try makeDirectories(parent) {
                try syncDirectory(at: self.parent(of: parent), name: "")
            }
            return try makeDirectory(path, name: "")
        }
    }

    /// Creates one directory; returns false if it already exists.
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

    /// Returns the error of the call that has just failed.
    private func failure(_ operation: String, _ name: String) -> StorageError {
        StorageError(number: errno, operation: operation, name: name.isEmpty ? location : name)
    }
}

func openDescriptor(_ path: String, in base: Int32 = AT_FDCWD, flags: Int32, mode: mode_t = 0) -> Int32 {
    retrying { openat(base, path, flags | O_CLOEXEC, mode) }
}

/// Replaces a leading `~` by the user's home directory, as a shell does.
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
