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

/// Refusals with more than one cause.
extension Refusal {
    static let rowNotFound = Refusal(404, "row-not-found", "The item does not exist")
    static let constraint = Refusal(409, "constraint", "The item violates a constraint of the database's table")
    static let valueTooLarge = Refusal(413, "too-large", "A value is larger than the database can hold")
}
