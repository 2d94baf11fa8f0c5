// What is to go wrong on a simulated disk, and when: a value that is armed on a `FaultyStorage`. A test that fails
// every call in turn arms the plan with 1, 2, 3 … until a run ends with no fault counted.

public import SegmentLog

/// One planned failure.
public struct FaultPlan: Hashable, Sendable {
    /// What the call does instead of its work.
    public enum Fault: Hashable, Sendable {
        /// Nothing, and reports an error of this kind.
        case error(StorageError.Kind)
        /// Reads at most so many bytes, at least one.
        case shortRead(Int)
        /// Writes at most so many bytes, at least one, and says so.
        case shortWrite(Int)
        /// Writes so many bytes of those given, then reports an error of this kind.
        case partialWrite(Int, StorageError.Kind)
    }

    /// What a failed sync leaves behind. File systems differ in this, so a log must bear all three.
    public enum SyncFailure: Hashable, Sendable, CaseIterable {
        /// The bytes stay to be written: a later sync would make them durable.
        case pagesStayDirty
        /// The bytes stay visible but count as written: a later sync succeeds without them, and a crash loses them.
        case pagesMarkedClean
        /// The file looks again as it did when last made durable.
        case contentReverted
    }

    /// Which of the calls it counts fails: 1 is the first after arming.
    public var call: Int
    /// The kinds of calls it counts.
    public var kinds: Set<CallKind>
    /// Counts only calls on files whose name ends with this; nil counts all.
    public var suffix: String?
    /// What the call does instead.
    public var fault: Fault
    /// What is left behind where the call is a sync.
    public var syncFailure: SyncFailure
    /// Whether every counted call after it fails, too.
    public var persists: Bool

    /// A plan to fail one call, or all from that one on; a fault that only a read or a write can show counts only those.
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
}

/// The calls that a simulated disk counts and can fail.
public enum CallKind: Int, Hashable, Sendable, CaseIterable {
    /// A call of a storage.
    case open, size, read, write, sync, syncDirectory, resize, rename, remove, list, lock, createDirectory, stat
}

/// How often a disk was called since it was made, or since the counts were reset.
public struct CallCounts: Hashable, Sendable {
    private var calls = [Int](repeating: 0, count: CallKind.allCases.count)
    /// The bytes that writes put on the disk, as far as they got through.
    public internal(set) var bytesWritten: UInt64 = 0
    /// The bytes that reads gave.
    public internal(set) var bytesRead: UInt64 = 0
    /// How many calls a plan made fail or fall short.
    public internal(set) var faults = 0

    /// No calls.
    public init() {}

    /// The calls of one kind.
    public internal(set) subscript(kind: CallKind) -> Int {
        get { calls[kind.rawValue] }
        set { calls[kind.rawValue] = newValue }
    }

    /// The syncs of files.
    public var syncs: Int { self[.sync] }
    /// All calls.
    public var total: Int { calls.reduce(0, +) }
}
