// A directory that is kept open, so that its files are reached wherever its path leads later; and the identity of
// files.

import CLibrary

/// A file's identity: two paths lead to the same file if both numbers are equal. While a file is open, its numbers
/// are not reused.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    private init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Both numbers as a string.
    var text: String { "\(device):\(inode)" }

    /// Identifies the file that a path leads to; a relative path begins at `base`.
    init(_ path: String, in base: Int32 = AT_FDCWD, name: String) throws(StorageError) {
        var status = stat()
        guard fstatat(base, path, &status, 0) == 0 else {
            throw StorageError(number: errno, operation: "stat", name: name)
        }
        self.init(status)
    }

    /// Identifies an open file.
    init(descriptor: Int32, name: String) throws(StorageError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw StorageError(number: errno, operation: "stat", name: name)
        }
        self.init(status)
    }

    /// Returns whether a path leads to this file; a relative path begins at `base`.
    func isFound(at path: String, in base: Int32 = AT_FDCWD, name: String) throws(StorageError) -> Bool {
        do throws(StorageError) {
            return try FileIdentity(path, in: base, name: name) == self
        } catch {
            // The path leads nowhere, as opposed to another error.
            if error.kind == .notFound || error.kind == .notADirectory || error.number == ELOOP { return false }
            throw error
        }
    }
}

/// A directory that is kept open.
final class POSIXDirectory: Sendable {
    let descriptor: Int32
    /// Absolute, because the process may change its working directory. Links in it are followed again each time:
    /// changing one to another directory replaces the store as well.
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

    /// Returns whether the path still leads to this directory.
    func isInPlace() throws(StorageError) -> Bool {
        try identity.isFound(at: path, name: path)
    }

    private static func absolute(_ path: String) throws(StorageError) -> String {
        if path.hasPrefix("/") { return path }
        guard let current = getcwd(nil, 0) else {
            throw StorageError(number: errno, operation: "findDirectory", name: path)
        }
        defer { free(current) }
        return String(cString: current) + "/" + path
    }
}
