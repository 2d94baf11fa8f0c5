// The server's refusal of a request, as the client receives it.

/// The reason why the server refuses a request: the client's fault, never the server's.
package struct Refusal: Error, Hashable, Sendable {
    package var status: Int
    /// A stable kebab-case name.
    package var code: String
    /// A sentence for people.
    package var message: String
    /// What the database said, for the log; a client is never told.
    package var cause: FailureReason?

    package init(_ status: Int, _ code: String, _ message: String, _ cause: FailureReason? = nil) {
        self.cause = cause
        self.status = status
        self.code = code
        self.message = message
    }
}

/// Refusals with more than one cause.
extension Refusal {
    package static let notPermitted = Refusal(403, "not-permitted", "You are not permitted to do this")
    /// The rules permitted it before. A client keeps the change, with this reason.
    static let rightLost = Refusal(403, "right-lost", "You have lost the right to this")
    package static let tooManyRequests = Refusal(429, "too-many-requests", "Too many requests; wait a moment")
    package static let loginNeeded = Refusal(401, "login-needed", "You must be logged in to use this application")
    package static let invalidToken = Refusal(
        401, "invalid-token", "The token is wrong, expired, or not valid yet")
    package static let otherTenant = Refusal(401, "other-tenant", "The token is for another tenant")
    /// The caller may not see the row. Not a conflict: there is nothing to decide about.
    static let idTaken = Refusal(403, "id-taken", "The id is taken by an item of another user; use another id")
    /// The same for a hidden row as for one that the caller sees.
    static let rowExists = Refusal(409, "row-exists", "An item with this id already exists")
    package static let rowNotFound = Refusal(404, "row-not-found", "The item does not exist")
    /// For a delete, instead of `rowNotFound`: a client takes that for a delete that is done.
    static let rowNotVisible = Refusal(403, "row-not-visible", "The item does not exist, or you may not see it")
    /// - Parameter name: The name of the constraint or the column.
    package static func constraint(_ name: String?, _ cause: FailureReason) -> Refusal {
        let named = name.map { " (\($0))" } ?? ""
        return Refusal(409, "constraint", "The item violates a constraint of the database's table\(named)", cause)
    }

    package static func trigger(_ cause: FailureReason) -> Refusal {
        Refusal(409, "constraint", "The database's table refuses the item, with a trigger or a rule", cause)
    }

    package static func rights(_ cause: FailureReason) -> Refusal {
        Refusal(403, "not-permitted", "The database does not permit this", cause)
    }
    package static let valueTooLarge = Refusal(413, "too-large", "A value is larger than the database can hold")
}
