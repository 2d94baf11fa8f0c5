// Decides whether a caller may do something to a table, before any row is read: no answer reveals what a caller may not
// ask about.

package import SynclineWire

extension TableDefinition {
    /// Throws a refusal if a caller may not perform an operation on any row.
    func grant(_ operation: TableOperation, to caller: Caller?) throws(StoreFailure) {
        let permission = permission(operation)
        if permission == .disabled {
            throw .refused(
                Refusal(405, "operation-disabled", "Method \(operation.rawValue) is not allowed on this table"))
        }
        guard let caller else {
            if permission != .anonymous || perUser != nil || !rules.isEmpty { throw .refused(.loginNeeded) }
            return
        }
        if case .role(let name) = permission, !caller.roles.contains(name) { throw .refused(.notPermitted) }
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
        (try? grant(operation, to: caller)) != nil
    }
}

/// The identity that a request claims.
package enum Login: Hashable, Sendable {
    case none
    case caller(Caller)
    /// There is a token, but it is not valid.
    case invalid
    /// There is a valid token for another tenant.
    case elsewhere

    /// The request's token; empty if the expected header contains none.
    package static func token(_ headers: [HTTPHeader]) -> String? {
        if let own = headers.value("X-ZUMO-AUTH") { return own.trimmed }
        guard let text = headers.value("Authorization")?.trimmed else { return nil }
        let space = text.utf8.firstIndex(of: UInt8(ascii: " ")) ?? text.endIndex
        guard text[..<space].lowercased() == "bearer" else { return nil }
        let rest = Substring(text.utf8[space...].dropFirst())
        return rest.utf8.contains(UInt8(ascii: " ")) ? "" : String(rest)
    }
}
