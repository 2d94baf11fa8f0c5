// The folder that a store is made in, beside its place: it gets its name when the store is complete, so a store that is
// half made never has it.

import SegmentLog
import Syncline

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct StoreDraft {
    /// The folder that the store will stand in.
    private let parent: POSIXStorage
    /// Its name there.
    private let name: String
    /// The draft's name there.
    private let draft: String

    private static let mark = ".import-"

    /// Throws `complaint` if there is something in the store's place.
    init(of path: String, complaint: () -> ToolError) throws {
        guard try StoreDraft.names(in: path).isEmpty else { throw complaint() }
        var names = POSIXStorage(directory: path).location.split(separator: "/", omittingEmptySubsequences: false)
        name = String(names.removeLast())
        parent = POSIXStorage(directory: names.isEmpty ? "." : names.joined(separator: "/") + "/")
        draft = "\(name)\(StoreDraft.mark)\(getpid())"
        removeOthers()
    }

    /// The folder itself.
    var storage: POSIXStorage { POSIXStorage(directory: path(draft)) }

    /// The store takes its place, durably.
    func putInPlace() throws(ToolError) {
        do throws(LogError) { try parent.putInPlace(draft, as: name) } catch { throw ToolError(error) }
    }

    /// Leaves nothing of it.
    func remove() { remove(draft) }

    private func path(_ name: String) -> String {
        parent.location == "/" ? "/" + name : parent.location + "/" + name
    }

    /// Removes what a process left that was killed while it made the same store: nobody holds its lock.
    private func removeOthers() {
        for left in (try? parent.names(in: "")) ?? [] where left.hasPrefix(name + StoreDraft.mark) {
            guard let lock = try? parent.lock(left + "/" + FileName.lock) else { continue }
            remove(left)
            lock.release()
        }
    }

    private func remove(_ folder: String) {
        for entry in (try? StoreDraft.names(in: path(folder))) ?? [] {
            let inner = folder + "/" + entry
            if isDirectory(path(inner)) { remove(inner) } else { try? parent.remove(inner) }
        }
        try? parent.removeDirectory(folder)
    }

    private static func names(in path: String) throws(StorageError) -> [String] {
        isDirectory(path) ? try POSIXStorage(directory: path).names(in: "") : []
    }
}
