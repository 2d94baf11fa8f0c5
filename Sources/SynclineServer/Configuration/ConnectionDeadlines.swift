// The time limits of clients.

/// Time limits for a client, in seconds.
struct ConnectionDeadlines: Hashable, Sendable {
    /// Between two requests. After this time without traffic, the HTTP library closes a connection.
    var idle = 60
    /// From a request's first line to the end of its head.
    var head = 10
    /// From the end of the head to the end of the body.
    var body = 60
    /// From the first line until the answer is sent.
    var request = 300
}
