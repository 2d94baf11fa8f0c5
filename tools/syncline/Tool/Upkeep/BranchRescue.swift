// Copies the branches of a damaged store that are whole into the store that was rescued from it.

import SegmentLog
import Syncline

struct BranchRescue {
    /// The branches that were copied.
    private(set) var copied: [String] = []
    /// The branches that are damaged. They stay in the damaged store.
    private(set) var damaged: [String] = []

    init() {}

    init(from store: POSIXStorage, to rescued: POSIXStorage) throws {
        for name in try Branches.names(store) {
            let place = "\(Branches.folder)/\(name)"
            let branch = POSIXStorage(directory: "\(store.location)/\(place)")
            guard BranchRescue.isWhole(branch) else {
                damaged.append(name)
                continue
            }
            try Branches.makeFolder(of: rescued)
            try rescued.createDirectory(place)
            for file in try branch.names(in: "") where BranchRescue.isOfLog(file) {
                try branch.copy(file, to: rescued, as: "\(place)/\(file)")
            }
            try rescued.syncDirectory(place)
            copied.append(name)
        }
    }

    private static func isOfLog(_ file: String) -> Bool {
        file == FileName.head || file.hasSuffix(FileName.segmentSuffix) || file.hasSuffix(FileName.checkpointSuffix)
    }

    /// Whether every event of a branch can be read, none may be missing, and it has the state that it began with.
    private static func isWhole(_ branch: POSIXStorage) -> Bool {
        do {
            let report = try LogInspection(branch).verify()
            guard try HistoryStart.checked(report, branch).isEmpty, try LogInspection(branch).catalog().endIsKnown
            else {
                return false
            }
            _ = try StateLoader(branch).load(usingCheckpoints: false)
            return true
        } catch {
            return false
        }
    }
}
