// The temporary folder of a new store, next to its final place. It is renamed when the store is complete, so that an
// unfinished store never has the final name.

import CLibrary
package import SegmentLog

package struct DraftFolder: Sendable {
    /// The parent folder of the store.
    private let parent: POSIXStorage
    /// The store's name in it.
    private let name: String
    /// The draft's name in it.
    private let draft: String

    private static let mark = ".import-"

    /// The draft of a store. Returns nil if the store's place is not empty.
    package init?(of path: String) throws(SyncError) {
        guard try DraftFolder.names(in: path).isEmpty else { return nil }
        var names = POSIXStorage(directory: path).location.split(separator: "/", omittingEmptySubsequences: false)
        name = String(names.removeLast())
        parent = POSIXStorage(directory: names.isEmpty ? "." : names.joined(separator: "/") + "/")
        draft = "\(name)\(DraftFolder.mark)\(getpid())"
        removeOthers()
    }

    /// The path of the folder.
    package var path: String { path(draft) }

    /// The folder itself.
    package var storage: POSIXStorage { POSIXStorage(directory: path) }

    /// Renames the draft to the store's name, durably.
    package func putInPlace() throws(SyncError) { try parent.put(draft, inPlace: name) }

    /// Removes the draft.
    package func remove() { DraftFolder.removeTree(path) }

    /// Removes a file, or as much of a folder as can be removed: a program may still write there.
    package static func removeTree(_ path: String) {
        if unlink(path) == 0 || errno == ENOENT { return }
        for name in (try? POSIXStorage(directory: path).names(in: "")) ?? [] { removeTree(path + "/" + name) }
        rmdir(path)
    }

    private func path(_ name: String) -> String {
        parent.location == "/" ? "/" + name : parent.location + "/" + name
    }

    /// Removes a draft that a killed process left while it created the same store: its lock is free.
    private func removeOthers() {
        for left in (try? parent.names(in: "")) ?? [] where left.hasPrefix(name + DraftFolder.mark) {
            guard let lock = try? parent.lock(left + "/" + FileName.lock) else { continue }
            DraftFolder.removeTree(path(left))
            lock.release()
        }
    }

    private static func names(in path: String) throws(SyncError) -> [String] {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [] }
        let storage = POSIXStorage(directory: path)
        return try storage.files { () throws(StorageError) in try storage.names(in: "") }
    }
}
