// The time limits of requests that wait for the database.

/// The time limits for waiting for the database.
struct DatabaseLimits: Hashable, Sendable {
    /// Until a connection is established.
    var connect = Duration.seconds(5)
    /// Until a statement is finished.
    var statement = Duration.seconds(30)
    /// Until another request releases its connection.
    var turn = Duration.seconds(5)
    /// Until the database answers a check; later, the check has missed.
    var check = Duration.milliseconds(700)
}

extension Duration {
    /// Whole seconds, as a configuration has them.
    var wholeSeconds: Int {
        get { Int(components.seconds) }
        set { self = .seconds(newValue) }
    }
}
