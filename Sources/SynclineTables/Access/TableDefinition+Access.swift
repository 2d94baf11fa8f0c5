// Decides whether a caller may do something to a table, before any row is read: no answer reveals what a caller may not
// ask about.

package import SynclineWire

extension TableDefinition {
    /// The owner whose rows a caller who may perform an operation sees, if the table's rows belong to users.
    func grant(_ operation: TableOperation, to caller: Caller?) throws(StoreFailure) -> String? {
        let permission = permission(operation)
        if permission == .disabled {
            throw .refused(
                Refusal(405, "operation-disabled", "Method \(operation.rawValue) is not allowed on this table"))
        }
        guard let caller else {
            if permission != .anonymous || perUser != nil || !rules.isEmpty { throw .refused(.loginNeeded) }
            return nil
        }
        if case .role(let name) = permission, !caller.roles.contains(name) { throw .refused(.notPermitted) }
        return perUser == nil ? nil : caller.subject
    }

    /// The columns that are as good as absent for a caller.
    func hidden(from caller: Caller?) -> HiddenColumns {
        let names = readers.filter { _, permission in
            switch permission {
            case .anonymous: false
            case .authenticated: caller == nil
            case .role(let name): !(caller?.roles.contains(name) ?? false)
            case .disabled: true
            }
        }
        return HiddenColumns(names: Set(names.keys))
    }

    func permits(_ operation: TableOperation, _ caller: Caller?) -> Bool {
        // A list, because an owner may be nil.
        (try? [grant(operation, to: caller)]) != nil
    }
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
