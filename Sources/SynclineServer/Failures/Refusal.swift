// The server's refusal of a request, as the client receives it.

/// The reason why the server refuses a request: the client's fault, never the server's.
struct Refusal: Error, Hashable, Sendable {
    var status: Int
    /// A stable kebab-case name.
    var code: String
    /// A sentence for people.
    var message: String
    /// What the database said, for the log; a client is never told.
    var cause: FailureReason?

    init(_ status: Int, _ code: String, _ message: String, _ cause: FailureReason? = nil) {
        self.cause = cause
        self.status = status
        self.code = code
        self.message = message
    }
}

/// Refusals with more than one cause.
extension Refusal {
    /// The caller may not see the row. Not a conflict: there is nothing to decide about.
    static let idTaken = Refusal(403, "id-taken", "The id is taken by an item of another user; use another id")
    static let rowNotFound = Refusal(404, "row-not-found", "The item does not exist")
    /// - Parameter name: The name of the constraint or the column.
    static func constraint(_ name: String?, _ cause: FailureReason) -> Refusal {
        let named = name.map { " (\($0))" } ?? ""
        return Refusal(409, "constraint", "The item violates a constraint of the database's table\(named)", cause)
    }

    static func trigger(_ cause: FailureReason) -> Refusal {
        Refusal(409, "constraint", "The database's table refuses the item, with a trigger or a rule", cause)
    }

    static func rights(_ cause: FailureReason) -> Refusal {
        Refusal(403, "not-permitted", "The database does not permit this", cause)
    }
    static let valueTooLarge = Refusal(413, "too-large", "A value is larger than the database can hold")
}
