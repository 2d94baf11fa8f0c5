// A branch of a store on disk, as the commands of `branch` see it.

import SegmentLog
import Syncline

struct Branch {
    let name: String
    let path: String
    let point: BranchPoint
    /// The state it was created from, and its current state.
    let base: StateReader
    let present: StateReader

    private static func path(_ name: String, of store: String) -> String { "\(store)/\(Branches.folder)/\(name)" }

    /// Reads a branch of a store.
    init(_ name: String, of store: String) throws {
        let folder = POSIXStorage(directory: store)
        let known = try Branches.names(folder)
        guard known.contains(name) else { throw ToolError.missingBranch(name, known) }
        self.name = name
        path = Branch.path(name, of: store)
        let storage = POSIXStorage(directory: path)
        (point, base, present) = try HistoryReading.run(storage) { () throws(SyncError) in
            try Branches.content(of: storage)
        }
    }

    /// Makes a branch: its log begins after an event, with a checkpoint of the state up to it.
    static func create(
        _ name: String, at event: UInt64?, of store: String, _ point: (UInt64) -> BranchPoint, now: Int64
    ) throws -> UInt64 {
        guard Branches.isName(name) else {
            throw ToolError.usage(
                "`\(escaped(name))` can't be the name of a branch", hint: "Use letters, digits, - and _.")
        }
        let storage = POSIXStorage(directory: store)
        let projector = try HistoryReading.run(storage, claiming: true) { () throws(SyncError) in
            try StateLoader(storage).load(through: event)
        }
        try Branches.makeFolder(of: storage)
        let draft = try StoreDraft(of: path(name, of: store)) {
            ToolError(
                "store-exists", "branch \(name) already exists",
                hint: "Choose another name, or remove it: `syncline branch drop \(name)`.")
        }
        do {
            let through = projector.through
            try Branches.begin(draft.storage, with: projector, point(through), time: now)
            try draft.putInPlace()
            return through
        } catch {
            draft.remove()
            throw error
        }
    }
}
