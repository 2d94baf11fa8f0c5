// From HTTP to a request: which protocol, which table and row, which action.

package import SynclineCore

extension TableRequest {
    /// Reads a request. One that names no version of the protocol is taken to speak `usual`.
    package init(
        _ request: HTTPRequest, usual: ServerProtocol, tables: String = "/tables"
    ) throws(TableRequestError) {
        let spoken = try TableRequest.version(of: request, usual)
        let root = tables.split(separator: "/").map(String.init)
        let segments = request.pathSegments
        guard segments.starts(with: root), (1...2).contains(segments.count - root.count) else {
            throw TableRequestError(404, "There is no table at \(request.path)", spoken)
        }
        serverProtocol = spoken
        table = segments[root.count]
        if segments.count > root.count + 1 { id = segments[root.count + 1] }
        action = .row
        condition = TableRequest.condition(request, spoken)
        includesDeleted = TableRequest.includesDeleted(request, spoken)
        operationID = request.headers.value(WireHeader.operationID)
        action = try action(of: request)
    }

    /// The header counts, then the parameter, then what is usual.
    private static func version(
        of request: HTTPRequest, _ usual: ServerProtocol
    ) throws(TableRequestError) -> ServerProtocol {
        let parameter = request.query.first { $0.isNamed(WireHeader.version) }?.value
        guard let text = request.headers.value(WireHeader.version) ?? parameter else { return usual }
        let parts = text.trimmed.split(separator: ".", omittingEmptySubsequences: false)
        let areNumbers = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 &- 0x30 < 10 } }
        if areNumbers, parts.count <= 3 {
            if parts[0] == "2", parts.count == 1 || parts[1] == "0" { return .zumo2 }
            if parts[0] == "3" { return .datasync3 }
        }
        throw TableRequestError(
            400, "The protocol version '\(text.trimmed.prefix(40))' is not spoken here; 2.0.0 and 3.0.0 are.", usual)
    }

    private static func condition(_ request: HTTPRequest, _ spoken: ServerProtocol) -> Condition? {
        guard let text = request.headers.value("If-Match") else { return nil }
        guard let versions = EntityTag.versions(text) else { return spoken == .zumo2 ? .versions(["*"]) : .any }
        // The newer servers' framework drops a tag without its quotes.
        if spoken == .datasync3, !text.contains("\"") { return nil }
        return .versions(versions)
    }

    private static func includesDeleted(_ request: HTTPRequest, _ spoken: ServerProtocol) -> Bool {
        switch spoken {
        case .zumo2: request.query.contains { $0.name == "__includeDeleted" && !$0.value.isEmpty }
        case .datasync3:
            request.query.contains { $0.isNamed("__includedeleted") && $0.value.lowercased() == "true" }
        }
    }

    private func error(_ status: Int, _ message: String) -> TableRequestError {
        TableRequestError(status, message, serverProtocol)
    }

    private mutating func action(of request: HTTPRequest) throws(TableRequestError) -> Action {
        switch (request.method, id.isEmpty) {
        case ("GET", true): return .list(try list(request))
        case ("GET", false): return .row
        case ("POST", true):
            let item = try item(request)
            id = item.id ?? ""
            return .insert(item)
        case ("POST", false) where serverProtocol == .zumo2: return .undelete
        case ("PATCH", _) where serverProtocol == .zumo2: return .update(try itemOfRow(request))
        case ("PUT", false) where serverProtocol == .datasync3: return .replace(try itemOfRow(request))
        case ("DELETE", false): return .delete
        case ("PUT", _) where serverProtocol == .zumo2: throw error(404, "Cannot PUT \(request.path)")
        default: throw error(405, "Method \(request.method) is not allowed")
        }
    }

    // MARK: Bodies

    /// The body of a write to the row of the path, or of the body itself.
    private mutating func itemOfRow(_ request: HTTPRequest) throws(TableRequestError) -> TableItem {
        let item = try item(request)
        if id.isEmpty { id = item.id ?? "" }
        guard item.id == nil || item.id == id else {
            throw error(400, "The item ID and querystring ID did not match")
        }
        guard !id.isEmpty else { throw error(400, "An id is required") }
        return item
    }

    private func item(_ request: HTTPRequest) throws(TableRequestError) -> TableItem {
        if let type = request.headers.value("Content-Type"), !type.lowercased().contains("json") {
            throw error(415, "A body must be application/json")
        }
        guard let body = request.body, !body.isEmpty else { throw error(400, "An item was not provided") }
        let row: ReadRow
        do throws(JSONError) {
            row = try body.withScanner { scanner throws(JSONError) in
                var reader = RowReader()
                let row = try reader.row(&scanner)
                try scanner.finish()
                return row
            }
        } catch {
            throw self.error(400, error.description)
        }
        return try item(row)
    }

    private func item(_ row: ReadRow) throws(TableRequestError) -> TableItem {
        var item = TableItem(id: try id(row.id), columns: row.columns)
        let members = row.columns.members
        guard members.contains(where: { TableRequest.isReserved($0.name) }) else { return item }
        for member in members where TableRequest.isReserved(member.name) {
            let name = member.name.lowercased()
            if serverProtocol == .zumo2, name != "version" {
                throw error(400, "Cannot update item with property '\(member.name)' as it is reserved")
            }
            if name == "version", case .string(let version) = member.value { item.version = version }
            if name == "deleted", case .bool(let flag) = member.value { item.isDeleted = flag }
        }
        item.columns = Row(members.filter { !TableRequest.isReserved($0.name) })
        return item
    }

    private func id(_ value: Value?) throws(TableRequestError) -> String? {
        switch value {
        case nil, .null?: return nil
        case .string(let text)?: return text.isEmpty ? nil : text
        case .integer(let number)? where serverProtocol == .zumo2: return String(number)
        case let other?: throw error(400, "An id must be a text, not \(other.kindName)")
        }
    }

    private static let reserved = ["createdat", "updatedat", "version", "deleted"]

    private static func isReserved(_ name: String) -> Bool {
        (7...9).contains(name.utf8.count) && reserved.contains(name.lowercased())
    }
}
