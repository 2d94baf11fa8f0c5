// The part of its history that a store keeps, and the part that may be removed. Computed from numbers alone; nothing
// is removed here.

/// How much of its history a store keeps.
public enum Retention: Hashable, Sendable {
    /// All of it.
    case everything
    /// The events of the last `count` days.
    case days(Int)
    /// The last `count` events.
    case events(Int)
}

extension Retention: CustomStringConvertible {
    /// The form used in settings: `all`, `30 days`, `1000 events`.
    public var description: String {
        switch self {
        case .everything: "all"
        case .days(let count): "\(count) days"
        case .events(let count): "\(count) events"
        }
    }

    /// Parses the form used in settings; nil for anything else.
    public init?(_ text: String) {
        if text == "all" {
            self = .everything
            return
        }
        let words = text.split(separator: " ")
        guard words.count == 2, let count = Int(words[0]), count >= 0 else { return nil }
        switch words[1] {
        case "day", "days": self = .days(count)
        case "event", "events": self = .events(count)
        default: return nil
        }
    }
}

extension StateReader {
    /// The retention in the store's settings. A branch keeps everything: its first state is what landing compares with.
    package var retention: Retention {
        get throws(SyncError) {
            if try branchPoint != nil { return .everything }
            guard case .string(let text)? = try setting(SettingName.retention) else { return .everything }
            return Retention(text) ?? .everything
        }
    }

    /// The first event that has a change in the outbox.
    package var oldestPending: UInt64? {
        get throws(SyncError) {
            var oldest: UInt64?
            try forEachChange { position, _ throws(SyncError) in
                oldest = position.event
                return false
            }
            return oldest
        }
    }
}

/// A checkpoint, and the files that hold its runs.
package struct CheckpointFiles: Hashable, Sendable {
    /// The last event it covers, which is also the name of its own file.
    package var through: UInt64
    /// The files it needs, each by the last event it covers.
    package var files: [UInt64]
    /// The size of its own file.
    package var size: UInt64

    package init(through: UInt64, files: [UInt64], size: UInt64 = 0) {
        self.through = through
        self.files = files
        self.size = size
    }

    /// Whether its own file holds the whole state.
    package var isWhole: Bool { files == [through] }
}

/// What is removed and what is kept.
package struct HistoryPlan: Hashable, Sendable {
    /// The whole checkpoint that the kept history begins with: every event it covers may be removed.
    package var anchor: UInt64
    /// The checkpoint files that are no longer needed.
    package var dropped: [UInt64]

    /// Nil if nothing may be removed.
    /// - Parameters:
    ///   - checkpoints: All checkpoints that can be read.
    ///   - horizon: The last event that need not be kept.
    package init?(_ checkpoints: [CheckpointFiles], horizon: UInt64) {
        // Kept events can be folded only onto an earlier state.
        let possible = checkpoints.filter { $0.isWhole && $0.through <= horizon }
        guard let anchor = possible.map(\.through).max() else { return nil }
        self.anchor = anchor
        let needed = Set(checkpoints.filter { $0.through >= anchor }.flatMap(\.files))
        dropped = checkpoints.map(\.through).filter { $0 < anchor && !needed.contains($0) }.sorted()
    }

    /// The checkpoints that later plans begin with: that of the current history, and the next one.
    package static func pinned(_ checkpoints: [CheckpointFiles]) -> Set<UInt64> {
        Set(checkpoints.filter(\.isWhole).map(\.through).sorted().prefix(2))
    }
}
