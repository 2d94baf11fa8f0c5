// The disk for crash tests. It keeps what is visible apart from what is durable, as a disk under a file system does,
// so that a crash at any moment can have every allowed result: unsynced writes persist in any subset and order, torn
// at sector boundaries, and directory entries persist independently of the content of their files. It can also fail
// calls, run full, lose syncs and damage bytes, and it counts calls.
//
// A crash or kill returns a new disk and ends the old one: every call on it and its open files fails from then on,
// so that a writer which "died" can't continue. The old one can still be crashed again with another result.

public import SegmentLog
import SynclineGround

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A simulated disk that can crash, fail, run full and rot.
public final class FaultyStorage: LogStorage {
    /// The number of bytes that a disk writes completely or not at all.
    public enum Granularity: Int, Sendable, CaseIterable {
        /// What drives guarantee.
        case sector = 512
        /// What most drives and file systems actually do.
        case page = 4096
    }

    struct Armed {
        var plan: FaultPlan
        var seen = 0
    }

    struct State {
        var disk: SimulatedDisk
        var capacity: UInt64?
        var armed: [Armed] = []
        var counts = CallCounts()
        var isTracing = false
        var trace: [String] = []
        var isEnded = false
        var isReplaced = false
    }

    let state: Mutex<State>

    init(_ disk: SimulatedDisk, capacity: UInt64?) {
        state = Mutex(State(disk: disk, capacity: capacity))
    }

    /// Creates an empty disk.
    public convenience init(granularity: Granularity = .sector, capacity: UInt64? = nil) {
        self.init(SimulatedDisk(piece: granularity.rawValue), capacity: capacity)
    }

    /// Creates a disk on which the files and directories of an in-memory tree are durable.
    public convenience init(_ tree: MemoryStorage, granularity: Granularity = .sector) {
        var disk = SimulatedDisk(piece: granularity.rawValue)
        let names = tree.allNames()
        // Sorted, so that a directory comes before its contents. Nothing can fail here.
        for name in names.directories { try? disk.createDirectory(name) }
        for name in names.files {
            guard let bytes = tree.contents(of: name), let inode = try? disk.openFile(name, create: true) else {
                continue
            }
            disk.inodes[inode] = SimulatedDisk.Inode(visible: bytes, durable: bytes)
        }
        for directory in disk.directories.indices { disk.syncDirectory(directory) }
        self.init(disk, capacity: nil)
    }

    public var location: String { "simulated disk" }

    public func names(in directory: String) throws(StorageError) -> [String] {
        try call(.list, directory) { (state) throws(SimulatedDisk.Refusal) in
            Array(state.disk.directories[try state.disk.directory(directory)].visible.keys)
        }
    }

    public func createDirectory(_ directory: String) throws(StorageError) {
        try call(.createDirectory, directory) { (state) throws(SimulatedDisk.Refusal) in
            try state.disk.createDirectory(directory)
        }
    }

    public func syncDirectory(_ directory: String) throws(StorageError) {
        try call(.syncDirectory, directory) { (state) throws(SimulatedDisk.Refusal) in
            state.disk.syncDirectory(try state.disk.directory(directory))
        }
    }

    public func openForReading(_ name: String) throws(StorageError) -> any ReadableFile {
        try open(name, create: false)
    }

    public func openForWriting(
        _ name: String, creating creation: FileCreation
    ) throws(StorageError) -> any WritableFile {
        try open(name, create: creation != .never)
    }

    public func rename(_ name: String, to newName: String) throws(StorageError) {
        try call(.rename, name, detail: " to \(newName)") { (state) throws(SimulatedDisk.Refusal) in
            try state.disk.rename(name, to: newName)
        }
    }

    public func remove(_ name: String) throws(StorageError) {
        try call(.remove, name) { (state) throws(SimulatedDisk.Refusal) in
            try state.disk.remove(name)
        }
    }

    public func removeDirectory(_ directory: String) throws(StorageError) {
        try call(.remove, directory) { (state) throws(SimulatedDisk.Refusal) in
            try state.disk.removeDirectory(directory)
        }
    }

    public func lock(_ name: String) throws(StorageError) -> (any FileLock)? {
        let inode: Int? = try call(.lock, name) { (state) throws(SimulatedDisk.Refusal) in
            let inode = try state.disk.openFile(name, create: true)
            if state.disk.inodes[inode].isLocked { return nil }
            state.disk.inodes[inode].isLocked = true
            state.disk.inodes[inode].handles += 1
            return inode
        }
        return inode.map { FaultyLock(storage: self, name: name, inode: $0) }
    }

    /// Returns whether a name leads to a file of the directory that is at the path.
    func leads(_ name: String, to inode: Int) throws(StorageError) -> Bool {
        try call(.stat, name) { (state) throws(SimulatedDisk.Refusal) in
            !state.isReplaced && (try? state.disk.file(name)) == inode
        }
    }

    private func open(_ name: String, create: Bool) throws(StorageError) -> FaultyFile {
        let inode = try call(.open, name) { (state) throws(SimulatedDisk.Refusal) in
            let inode = try state.disk.openFile(name, create: create)
            state.disk.inodes[inode].handles += 1
            return inode
        }
        return FaultyFile(storage: self, inode: inode, name: name)
    }
}

// MARK: - Calls

extension FaultyStorage {
    /// Runs one call on a name: counts it, and fails it if a plan says so.
    private func call<Result: Sendable>(
        _ kind: CallKind, _ name: String, detail: @autoclosure () -> String = "",
        _ work: (inout State) throws(SimulatedDisk.Refusal) -> Result
    ) throws(StorageError) -> Result {
        try state.withLock { (state) throws(StorageError) in
            if let plan = try state.begin(kind, name, detail: detail()), case .error(let error) = plan.fault {
                throw StorageError(simulating: error, operation: "\(kind)", name: name)
            }
            do throws(SimulatedDisk.Refusal) {
                return try work(&state)
            } catch {
                let number =
                    switch error {
                    case .missing: ENOENT
                    case .notADirectory: ENOTDIR
                    case .isDirectory: EISDIR
                    case .notEmpty: ENOTEMPTY
                    }
                throw StorageError(number: number, operation: "\(kind)", name: name)
            }
        }
    }
}

extension FaultyStorage.State {
    /// Counts a call; returns the plan that makes it fail, if any.
    mutating func begin(
        _ kind: CallKind, _ name: String, detail: @autoclosure () -> String = ""
    ) throws(StorageError) -> FaultPlan? {
        guard !isEnded else { throw StorageError(number: EBADF, operation: "\(kind)", name: name) }
        counts[kind] += 1
        if isTracing { trace.append("\(kind) \(name.isEmpty ? "." : name)\(detail())") }
        guard !armed.isEmpty else { return nil }
        var fired: FaultPlan?
        for index in armed.indices where armed[index].plan.counts(kind, name) {
            armed[index].seen += 1
            let (plan, seen) = (armed[index].plan, armed[index].seen)
            if fired == nil, seen == plan.call || plan.persists && seen > plan.call { fired = plan }
        }
        if fired != nil { counts.faults += 1 }
        return fired
    }

    /// Returns by how many bytes a file may grow.
    func room() -> Int {
        guard let capacity else { return .max }
        var used = 0
        for directory in disk.directories {
            for case .file(let inode) in directory.visible.values { used += disk.inodes[inode].visible.count }
        }
        return max(0, Int(clamping: capacity) - used)
    }
}
