// A planned fault of a disk in memory, armed on a `MemoryStorage`. To fail every call in turn, a test arms the plan with
// 1, 2, 3 … until a run ends without a fault.

public import SegmentLog

/// One planned failure.
public struct FaultPlan: Hashable, Sendable {
    /// What the call does instead of its work.
    public enum Fault: Hashable, Sendable {
        /// Does nothing, and reports an error of this kind.
        case error(StorageError.Kind)
        /// Reads at most this many bytes, at least one.
        case shortRead(Int)
        /// Writes at most this many bytes, at least one, and reports that number.
        case shortWrite(Int)
        /// Writes this many of the bytes, then reports an error of this kind.
        case partialWrite(Int, StorageError.Kind)
    }

    /// The effect of a failed sync. File systems differ in this, so a log must tolerate all three.
    public enum SyncFailure: Hashable, Sendable, CaseIterable {
        /// The bytes stay dirty: a later sync would make them durable.
        case pagesStayDirty
        /// The bytes stay visible but count as written: a later sync succeeds without writing them, and a crash
        /// loses them.
        case pagesMarkedClean
        /// The file's content returns to its last durable state.
        case contentReverted

        var effect: (@Sendable (inout MemoryDisk, Int) -> Void)? {
            switch self {
            case .pagesStayDirty: nil
            case .pagesMarkedClean: { $0.markClean($1) }
            case .contentReverted: { $0.revert($1) }
            }
        }
    }

    /// The number of the counted call that fails: 1 is the first after arming.
    public var call: Int
    /// The kinds of calls it counts.
    public var kinds: Set<CallKind>
    /// Counts only calls on files whose name ends with this; nil counts all.
    public var suffix: String?
    /// What the call does instead.
    public var fault: Fault
    /// The effect on the file if the call is a sync.
    public var syncFailure: SyncFailure
    /// Whether every counted call after it fails, too.
    public var persists: Bool

    /// Creates a plan to fail one call, or all calls from that one on. A fault that is possible only for a read or a
    /// write counts only those.
    public init(
        call: Int, of kinds: Set<CallKind> = Set(CallKind.allCases), suffix: String? = nil,
        fault: Fault = .error(.inputOutput), syncFailure: SyncFailure = .pagesStayDirty, persists: Bool = false
    ) {
        self.call = call
        self.kinds = kinds
        self.suffix = suffix
        self.fault = fault
        self.syncFailure = syncFailure
        self.persists = persists
    }

    func counts(_ kind: CallKind, _ name: String) -> Bool {
        let fits =
            switch fault {
            case .error: true
            case .shortRead: kind == .read
            case .shortWrite, .partialWrite: kind == .write
            }
        return fits && kinds.contains(kind) && (suffix.map { name.hasSuffix($0) } ?? true)
    }

    /// What the disk does instead of a call on a name.
    func fault(of kind: CallKind, _ name: String) -> DiskFault {
        func error(_ error: StorageError.Kind) -> StorageError {
            StorageError(simulating: error, operation: kind.rawValue, name: name)
        }
        switch fault {
        case .error(let kind): return DiskFault(most: 0, error: error(kind), effect: syncFailure.effect)
        case .shortRead(let most), .shortWrite(let most): return DiskFault(most: max(1, most))
        case .partialWrite(let most, let kind): return DiskFault(most: max(0, most), error: error(kind))
        }
    }
}

/// The kinds of calls that a disk counts and can fail.
public enum CallKind: String, Hashable, Sendable, CaseIterable {
    /// The kinds of calls.
    case open, size, read, write, sync, syncDirectory, resize, rename, remove, list, lock, createDirectory, stat
}

/// The number of calls to a disk since it was created, or since the counts were reset.
public struct CallCounts: Hashable, Sendable {
    private var calls: [CallKind: Int] = [:]
    /// The number of bytes that writes stored.
    public internal(set) var bytesWritten: UInt64 = 0
    /// The number of bytes that reads returned.
    public internal(set) var bytesRead: UInt64 = 0
    /// The number of calls that a plan made fail or fall short.
    public internal(set) var faults = 0

    /// Creates counts of zero.
    public init() {}

    /// The number of calls of one kind.
    public internal(set) subscript(kind: CallKind) -> Int {
        get { calls[kind, default: 0] }
        set { calls[kind] = newValue }
    }

    /// The number of file syncs.
    public var syncs: Int { self[.sync] }
    /// The number of all calls.
    public var total: Int { calls.values.reduce(0, +) }
}
