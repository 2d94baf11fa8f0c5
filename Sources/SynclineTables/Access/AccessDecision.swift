// Decides whether a caller may do something to a table, before any row is read: no answer reveals what a caller may not
// ask about.

package import SynclineWire

package enum AccessDecision: Hashable, Sendable {
    /// The owner whose rows are visible, if the table's rows belong to users.
    case granted(owner: String?)
    case refused(Refusal)

    package static func decide(_ operation: TableOperation, _ table: TableDefinition, _ caller: Caller?)
        -> AccessDecision
    {
        let permission = table.permission(operation)
        if permission == .disabled {
            return .refused(
                Refusal(405, "operation-disabled", "Method \(operation.rawValue) is not allowed on this table"))
        }
        let needsLogin = permission != .anonymous || table.perUser != nil
        guard let caller else {
            return needsLogin ? .refused(loginNeeded) : .granted(owner: nil)
        }
        if case .role(let name) = permission, !caller.roles.contains(name) {
            return .refused(notPermitted)
        }
        return .granted(owner: table.perUser == nil ? nil : caller.subject)
    }

    package var isGranted: Bool {
        if case .granted = self { return true }
        return false
    }

    package static let notPermitted = Refusal(403, "not-permitted", "You are not permitted to do this")
    package static let loginNeeded = Refusal(401, "login-needed", "You must be logged in to use this application")
}

/// The caller of a request.
package struct Caller: Hashable, Sendable {
    package var subject: String
    package var roles: Set<String> = []

    package init(subject: String, roles: Set<String> = []) { (self.subject, self.roles) = (subject, roles) }
}

/// The identity that a request claims.
package enum Login: Hashable, Sendable {
    case none
    case caller(Caller)
    /// There is a token, but it is not valid.
    case invalid

    /// The request's token; empty if the expected header contains none.
    package static func token(_ headers: [HTTPHeader]) -> String? {
        if let own = headers.value("X-ZUMO-AUTH") { return own.trimmed }
        guard let text = headers.value("Authorization")?.trimmed else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words[0].lowercased() == "bearer" else { return nil }
        return words.count == 2 ? String(words[1]) : ""
    }
}
