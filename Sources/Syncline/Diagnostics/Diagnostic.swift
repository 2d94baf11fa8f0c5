// The engine's messages about its work, for the log of the app. They have no values of rows, no ids and no tokens.

/// A report about the engine's work.
public struct Diagnostic: Hashable, Sendable {
    /// How important a report is.
    public enum Level: Int, Comparable, Sendable {
        /// Each request and its answer.
        case debug
        /// What began and what ended.
        case info
        /// Something failed, and is tried again.
        case warning
        /// Something failed permanently.
        case error

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// Which part of the engine reports.
    public enum Area: String, Sendable {
        /// The log, and the checkpoints of its state.
        case store
        /// Pushes, pulls and automatic sync.
        case sync
        /// Requests to the server.
        case network
    }

    /// How important it is.
    public var level: Level
    /// Which part of the engine reports.
    public var area: Area
    /// A sentence in English.
    public var message: String

    init(_ level: Level, _ area: Area, _ message: String) {
        self.level = level
        self.area = area
        self.message = message
    }
}

/// Receives the engine's reports. It is called from any thread, and the engine waits until it returns.
public typealias DiagnosticReceiver = @Sendable (Diagnostic) -> Void
