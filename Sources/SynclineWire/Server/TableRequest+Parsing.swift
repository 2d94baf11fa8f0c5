// Parses HTTP to a request: the protocol, the table and row, and the action.

package import SynclineCore
import SynclineGround

extension TableRequest {
    /// Parses a request to a table, or to a row by its id.
    package init(
        _ request: HTTPRequest, _ protocolVersion: ServerProtocol, table: String, id: String, rules: RequestRules
    ) throws(TableRequestError) {
        (serverProtocol, self.table, self.id) = (protocolVersion, table, id)
        action = .row
        condition = try TableRequest.condition(request, protocolVersion, rules)
        includesDeleted = TableRequest.includesDeleted(request, protocolVersion, rules)
        operationID = request.headers.value(WireHeader.operationID)
        action = try action(of: request, rules)
    }

    /// Creates the request of a batch's operation, as if it had come alone.
    package init(_ operation: BatchRequest.Operation, _ protocolVersion: ServerProtocol) {
        (serverProtocol, table, id) = (protocolVersion, operation.table, operation.id)
        action =
            switch operation.kind {
            case .insert: .insert(operation.item)
            case .update: .update(operation.item)
            case .replace: .replace(operation.item)
            case .delete: .delete
            case .undelete: .undelete
            }
        condition = operation.version.map { .versions([$0]) }
        operationID = operation.operationID
    }

    /// The header takes precedence over the parameter, and that over the default.
    package static func version(
        of request: HTTPRequest, _ usual: ServerProtocol, _ rules: RequestRules = .peers
    ) throws(TableRequestError) -> ServerProtocol {
        let parameter = request.query.first { $0.isNamed(WireHeader.version) }?.value
        guard let text = request.headers.value(WireHeader.version) ?? parameter else { return usual }
        // Sent by nearly every client.
        if text == "2.0.0" { return .zumo2 }
        if text == "3.0.0" { return .datasync3 }
        let parts = text.trimmed.split(separator: ".", omittingEmptySubsequences: false)
        let areNumbers = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 &- 0x30 < 10 } }
        if areNumbers, parts.count <= 3, rules.keepsQuirks || parts.count > 1 && parts[1] == "0" {
            if parts[0] == "2", parts.count == 1 || parts[1] == "0" { return .zumo2 }
            if parts[0] == "3" { return .datasync3 }
        }
        throw TableRequestError(
            400, "The protocol version '\(text.trimmed.prefix(40))' is not supported; use 2.0.0 or 3.0.0.",
            code: "unknown-protocol-version")
    }

    private static func condition(
        _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ rules: RequestRules
    ) throws(TableRequestError) -> Condition? {
        guard rules.keepsQuirks else {
            // Several lines of a header form one list.
            let lines = request.headers.filter { $0.isNamed("If-Match") }.map(\.value)
            if lines.isEmpty { return nil }
            let text = lines.joined(separator: ",")
            guard EntityTag.isReadable(text) else {
                throw TableRequestError(400, "If-Match can't be read", code: "invalid-condition")
            }
            return EntityTag.versions(text).map { .versions($0) } ?? .any
        }
        guard let text = request.headers.value("If-Match") else { return nil }
        guard let versions = EntityTag.versions(text) else {
            return protocolVersion == .zumo2 ? .versions(["*"]) : .any
        }
        // The newer servers' framework ignores a tag without its quotes.
        if protocolVersion == .datasync3, !text.contains("\"") { return nil }
        return .versions(versions)
    }

    private static func includesDeleted(
        _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ rules: RequestRules
    ) -> Bool {
        if rules.keepsQuirks, protocolVersion == .zumo2 {
            return request.query.contains { $0.name == "__includeDeleted" && !$0.value.isEmpty }
        }
        if request.query.contains(where: { $0.isNamed("__includedeleted") && $0.value.lowercased() == "true" }) {
            return true
        }
        return !rules.keepsQuirks
            && request.headers.contains {
                $0.isNamed("X-ZUMO-Options") && $0.value.lowercased().contains("include:deleted")
            }
    }

    private mutating func action(of request: HTTPRequest, _ rules: RequestRules) throws(TableRequestError) -> Action {
        let (isOld, isNew) = (serverProtocol == .zumo2, serverProtocol == .datasync3)
        switch (request.method, id.isEmpty) {
        case ("GET", true): return .list(try list(request, rules))
        case ("GET", false): return .row
        case ("POST", true):
            let item = try item(request, rules)
            id = item.id ?? ""
            return .insert(item)
        case ("POST", false) where isOld || !rules.keepsQuirks: return .undelete
        case ("PATCH", _) where isNew && !rules.keepsQuirks && TableRequest.isPatch(request):
            return .patch(try patch(request))
        case ("PATCH", _) where isOld || !rules.keepsQuirks:
            let item = try itemOfRow(request, rules)
            return isNew && item.isDeleted == false && item.columns.isEmpty ? .undelete : .update(item)
        case ("PUT", false) where isNew || !rules.keepsQuirks: return .replace(try itemOfRow(request, rules))
        case ("DELETE", false): return .delete
        case ("PUT", _) where serverProtocol == .zumo2: throw TableRequestError(404, "Cannot PUT \(request.path)")
        default: throw TableRequestError(405, "Method \(request.method) is not allowed", code: "method-not-allowed")
        }
    }

    // MARK: Bodies

    /// Parses the body of a write to the row in the path, or in the body itself.
    private mutating func itemOfRow(
        _ request: HTTPRequest, _ rules: RequestRules
    ) throws(TableRequestError) -> TableItem {
        let item = try item(request, rules)
        if id.isEmpty { id = item.id ?? "" }
        guard item.id?.hasSameBytes(as: id) ?? true else {
            throw TableRequestError(400, "The item ID and querystring ID did not match", code: "id-mismatch")
        }
        guard !id.isEmpty else { throw TableRequestError(400, "An id is required", code: "missing-id") }
        return item
    }

    private func patch(_ request: HTTPRequest) throws(TableRequestError) -> JSONPatch {
        guard !id.isEmpty else { throw TableRequestError(400, "An id is required", code: "missing-id") }
        let list: Value
        do throws(JSONError) {
            list = try Value(json: request.body ?? [])
        } catch {
            throw TableRequestError(400, error.description, code: "invalid-json")
        }
        do throws(JSONPatchError) {
            return try JSONPatch(list)
        } catch {
            throw TableRequestError(400, error.message, code: "invalid-patch")
        }
    }

    private func item(_ request: HTTPRequest, _ rules: RequestRules) throws(TableRequestError) -> TableItem {
        if let type = request.headers.value("Content-Type"), !TableRequest.isJSON(type, rules) {
            throw TableRequestError(415, "A body must be application/json", code: "unsupported-media-type")
        }
        guard let body = request.body, !body.isEmpty else {
            throw TableRequestError(400, "An item was not provided", code: "missing-item")
        }
        let row: ReadRow
        do throws(JSONError) {
            row = try body.withScanner { scanner throws(JSONError) in
                var reader = RowReader()
                let row = try reader.row(&scanner)
                try scanner.finish()
                return row
            }
        } catch {
            throw TableRequestError(400, error.description, code: "invalid-json")
        }
        return try TableItem(row, serverProtocol, rules)
    }

    private static func isPatch(_ request: HTTPRequest) -> Bool {
        let type = request.headers.value("Content-Type") ?? ""
        return type.prefix { $0 != ";" }.trimmed.lowercased() == "application/json-patch+json"
    }

    private static func isJSON(_ type: String, _ rules: RequestRules) -> Bool {
        if rules.keepsQuirks { return type.lowercased().contains("json") }
        return type.prefix { $0 != ";" }.trimmed.lowercased() == "application/json"
    }
}

extension TableItem {
    /// Creates the item of an object; what a client may not set is refused or ignored, depending on the protocol.
    init(_ row: ReadRow, _ serverProtocol: ServerProtocol, _ rules: RequestRules) throws(TableRequestError) {
        self.init(id: try TableItem.id(row.id, serverProtocol, rules), columns: row.columns)
        guard row.columns.columns.contains(where: TableItem.isReserved) else { return }
        let members = row.columns.members
        for member in members where TableItem.isReserved(member.name) {
            let name = member.name.lowercased()
            if serverProtocol == .zumo2, name != "version" {
                throw TableRequestError(
                    400, "Cannot update item with property '\(member.name)' as it is reserved",
                    code: "reserved-column")
            }
            if name == "version", case .string(let version) = member.value { self.version = version }
            if name == "deleted", case .bool(let flag) = member.value { isDeleted = flag }
        }
        columns = Row(members.filter { !TableItem.isReserved($0.name) })
    }

    private static func id(
        _ value: Value?, _ serverProtocol: ServerProtocol, _ rules: RequestRules
    ) throws(TableRequestError) -> String? {
        switch value {
        case nil, .null?: return nil
        case .string(let text)?: return text.isEmpty ? nil : text
        case .integer(let number)? where serverProtocol == .zumo2 && rules.keepsQuirks: return String(number)
        case let other?:
            throw TableRequestError(400, "An id must be a string, not \(other.kindName)", code: "invalid-id")
        }
    }

    private static let reserved = ["createdat", "updatedat", "version", "deleted"]

    private static func isReserved(_ name: String) -> Bool {
        (7...9).contains(name.utf8.count) && reserved.contains(name.lowercased())
    }
}
