// A branch of a store on disk, as the commands of `branch` see it.

import SegmentLog
import Syncline
import SynclineCore

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
        let path = path
        (point, base, present) = try HistoryReading.run(storage) {
            let present = try StateLoader(storage).load().present
            guard let point = try present.branchPoint else {
                throw ToolError(
                    "store-corrupt", "\(escaped(path)) is not a branch: it does not name its starting point")
            }
            return (point, try Branches.base(of: storage, at: point), present)
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
            let log = try StateTransfer.begin(draft.storage, with: projector)
            let setting = Event(
                time: now, .configured(name: BranchPoint.setting, value: point(through).value))
            try log.append(RecordBatch(setting.bytes), durability: .durable)
            try log.close()
            try draft.putInPlace()
            return through
        } catch {
            draft.remove()
            throw error
        }
    }
}
