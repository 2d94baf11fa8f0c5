// How much of its history a store keeps, and what may go. Decided here, on numbers alone; nothing is removed here.

/// How much of its history a store keeps.
public enum Retention: Hashable, Sendable {
    /// All of it.
    case everything
    /// What happened in the last so many days.
    case days(Int)
    /// The last so many events.
    case events(Int)
}

extension Retention: CustomStringConvertible {
    /// The form it is set and kept in: `all`, `30 days`, `1000 events`.
    public var description: String {
        switch self {
        case .everything: "all"
        case .days(let count): "\(count) days"
        case .events(let count): "\(count) events"
        }
    }

    /// Reads the form it is kept in; nil for anything else.
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
    /// What is kept of the history.
    package var retention: Retention {
        get throws(StateError) {
            guard case .string(let text)? = try setting(SettingName.retention) else { return .everything }
            return Retention(text) ?? .everything
        }
    }

    /// The first event that has a change in the outbox.
    package var oldestPending: UInt64? {
        get throws(StateError) {
            var oldest: UInt64?
            try forEachChange { position, _ throws(StateError) in
                oldest = position.event
                return false
            }
            return oldest
        }
    }
}

/// What goes and what stays.
package struct HistoryPlan: Hashable, Sendable {
    /// The checkpoint that the states of the history begin with; nil where nothing may go.
    package var anchor: UInt64?
    /// The first event that stays.
    package var firstEvent: UInt64 = 1
    /// Checkpoints that nothing needs any more.
    package var dropped: [UInt64] = []

    /// - Parameters:
    ///   - checkpoints: Those that hold the whole state by themselves, oldest first.
    ///   - horizon: The last event that need not be kept.
    package init(checkpoints: [UInt64], horizon: UInt64, oldestPending: UInt64?) {
        // What is kept can be folded only from a state that lies before it.
        guard let anchor = checkpoints.last(where: { $0 <= horizon }) else { return }
        self.anchor = anchor
        firstEvent = min(anchor + 1, oldestPending ?? .max)
        dropped = checkpoints.filter { $0 < anchor }
    }

    /// The checkpoints that later plans begin from: what the history begins with now, and what it will begin with next.
    package static func pinned(_ checkpoints: [UInt64]) -> Set<UInt64> { Set(checkpoints.prefix(2)) }
}
