// A temporary folder that is removed when it is no longer used. It is locked for that long: one without a lock was left by a
// process that was killed, and goes with the next start.

import CLibrary
import SegmentLog
import Syncline

/// A temporary folder.
final class ScratchFolder: Sendable {
    let path: String
    private let lock: Int32

    private static let prefix = "syncline-report."
    private static var parent: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    init() throws(ToolError) {
        ScratchFolder.removeAbandoned()
        while true {
            var template = Array("\(ScratchFolder.parent)/\(ScratchFolder.prefix)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                let error = StorageError(number: errno, operation: "createDirectory", name: "a temporary directory")
                throw ToolError(LogError(error))
            }
            let path = template.withUnsafeBufferPointer {
                String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
            // Another process may have taken it for an abandoned one.
            guard let lock = ScratchFolder.lock(path) else { continue }
            (self.path, self.lock) = (path, lock.descriptor)
            break
        }
        Leftovers.add(path)
    }

    deinit {
        Leftovers.discard(path)
        close(lock)
    }

    /// Removes the folders of this user that no process uses any more.
    static func removeAbandoned() {
        let names = (try? POSIXStorage(directory: parent).names(in: "")) ?? []
        for name in names where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 {
            guard let lock = lock(parent + "/" + name) else { continue }
            if lock.isTaken { DraftFolder.removeTree(parent + "/" + name) }
            close(lock.descriptor)
        }
    }

    /// Locks a folder. Returns nil if another process has the lock or has removed it, or if it is another user's; some file
    /// systems know no locks.
    private static func lock(_ path: String) -> (descriptor: Int32, isTaken: Bool)? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let isTaken = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        let isHeld = !isTaken && errno == EWOULDBLOCK
        var (own, named) = (stat(), stat())
        guard !isHeld, fstat(descriptor, &own) == 0, lstat(path, &named) == 0, own.st_ino == named.st_ino,
            own.st_dev == named.st_dev, own.st_uid == geteuid()
        else {
            close(descriptor)
            return nil
        }
        return (descriptor, isTaken)
    }
}
