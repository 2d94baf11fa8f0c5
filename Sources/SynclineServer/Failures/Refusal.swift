// Why the server refuses a request, as the client is told.

/// The reason why the server refuses a request: the client's fault, never the server's.
struct Refusal: Error, Hashable, Sendable {
    var status: Int
    /// A stable kebab-case name.
    var code: String
    /// A sentence for people.
    var message: String

    init(_ status: Int, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }
}
