// A directory that is kept open, so that files are reached through it whatever its path leads to later; and how the
// system tells one file from another.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Which file it is: two paths lead to one file if both numbers are equal. As long as a file is open its numbers are not
/// given to another.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    private init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Both numbers.
    var text: String { "\(device):\(inode)" }

    /// The file that a path leads to, from a directory where the path is relative.
    init(_ path: String, in base: Int32 = AT_FDCWD, name: String) throws(StorageError) {
        var status = stat()
        guard fstatat(base, path, &status, 0) == 0 else {
            throw StorageError(number: errno, operation: "stat", name: name)
        }
        self.init(status)
    }

    /// An open file.
    init(descriptor: Int32, name: String) throws(StorageError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw StorageError(number: errno, operation: "stat", name: name)
        }
        self.init(status)
    }
}

/// A directory that is kept open.
final class POSIXDirectory: Sendable {
    let descriptor: Int32
    /// From the root, because the process may change its working directory. Links in it are followed again each time: one
    /// that is set to another directory replaces the store as well.
    private let path: String
    private let identity: FileIdentity

    /// Opens the directory that a path leads to now.
    init(path: String) throws(StorageError) {
        descriptor = openDescriptor(path, flags: O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw StorageError(number: errno, operation: "open", name: path) }
        do throws(StorageError) {
            identity = try FileIdentity(descriptor: descriptor, name: path)
            self.path = try POSIXDirectory.absolute(path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Whether the path still leads to this directory.
    func isInPlace() throws(StorageError) -> Bool {
        do throws(StorageError) {
            return try FileIdentity(path, name: path) == identity
        } catch {
            if error.isMissing { return false }
            throw error
        }
    }

    private static func absolute(_ path: String) throws(StorageError) -> String {
        if path.hasPrefix("/") { return path }
        guard let current = getcwd(nil, 0) else { throw StorageError(number: errno, operation: "getcwd", name: path) }
        defer { free(current) }
        return String(cString: current) + "/" + path
    }
}

extension StorageError {
    /// Whether the path leads nowhere, rather than that the system would not say where.
    var isMissing: Bool { kind == .notFound || kind == .notADirectory || number == ELOOP }
}
