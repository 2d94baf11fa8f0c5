// The temporary folder of a new store, next to its final place. It is renamed when the store is complete, so that an
// unfinished store never has the final name.

import SegmentLog
import Syncline

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct StoreDraft {
    /// The parent folder of the store.
    private let parent: POSIXStorage
    /// The store's name in it.
    private let name: String
    /// The draft's name in it.
    private let draft: String

    private static let mark = ".import-"

    /// Throws `complaint` if the store's place is not empty.
    init(of path: String, complaint: () -> ToolError) throws {
        guard try StoreDraft.names(in: path).isEmpty else { throw complaint() }
        var names = POSIXStorage(directory: path).location.split(separator: "/", omittingEmptySubsequences: false)
        name = String(names.removeLast())
        parent = POSIXStorage(directory: names.isEmpty ? "." : names.joined(separator: "/") + "/")
        draft = "\(name)\(StoreDraft.mark)\(getpid())"
        removeOthers()
        Leftovers.add(self.path(draft))
    }

    /// The folder itself.
    var storage: POSIXStorage { POSIXStorage(directory: path(draft)) }

    /// Renames the draft to the store's name, durably.
    func putInPlace() throws(ToolError) {
        do throws(LogError) { try parent.putInPlace(draft, as: name) } catch { throw ToolError(error) }
        Leftovers.forget(path(draft))
    }

    /// Removes the draft.
    func remove() { Leftovers.discard(path(draft)) }

    private func path(_ name: String) -> String {
        parent.location == "/" ? "/" + name : parent.location + "/" + name
    }

    /// Removes a draft that a killed process left while it created the same store: its lock is free.
    private func removeOthers() {
        for left in (try? parent.names(in: "")) ?? [] where left.hasPrefix(name + StoreDraft.mark) {
            guard let lock = try? parent.lock(left + "/" + FileName.lock) else { continue }
            Leftovers.discard(path(left))
            lock.release()
        }
    }

    private static func names(in path: String) throws(StorageError) -> [String] {
        isDirectory(path) ? try POSIXStorage(directory: path).names(in: "") : []
    }
}
