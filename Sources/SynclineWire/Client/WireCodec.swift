// A store's requests as HTTP of either protocol. Nothing is sent or decided here: the same request gives the same
// bytes.

package import SynclineCore

/// Converts requests to HTTP, and responses from it.
package struct WireCodec: Sendable {
    package let serverProtocol: ServerProtocol
    /// The path of the tables below the backend's URL.
    package let tables: String

    package init(_ serverProtocol: ServerProtocol, tables: String = "/tables") {
        self.serverProtocol = serverProtocol
        self.tables = tables
    }

    /// Returns the HTTP of a request. The app's own headers come last and never replace one that the protocol needs.
    package func request(
        _ request: ServerRequest, headers: [HTTPHeader] = [], token: String? = nil
    ) throws(UnsupportedPredicate) -> HTTPRequest {
        withCommonHeaders(try plain(request), headers: headers, token: token)
    }

    /// Returns a request without the common headers.
    package func plain(_ request: ServerRequest) throws(UnsupportedPredicate) -> HTTPRequest {
        switch request {
        case .write(let write): return self.request(write)
        case .row(let table, let id, let includesDeleted):
            var request = at("GET", table, id)
            // The older servers never return a deleted row.
            if includesDeleted, serverProtocol == .datasync3 { request.query = [WireCodec.includesDeleted] }
            return request
        case .list(let list):
            var request = at("GET", list.table)
            if let continuation = list.continuation {
                request.query = HTTPRequest.parameters(continuation)
            } else {
                request.query = try parameters(list)
            }
            return request
        case .changes(let changes): return try self.request(changes)
        case .batch(let writes): return batch(writes)
        }
    }

    /// Returns a request with the common headers.
    package func withCommonHeaders(
        _ request: consuming HTTPRequest, headers: [HTTPHeader] = [], token: String? = nil
    ) -> HTTPRequest {
        request.headers.insert(HTTPHeader("Accept", "application/json"), at: 0)
        request.headers.insert(HTTPHeader(WireHeader.version, serverProtocol.versionText), at: 0)
        if let token { request.headers.append(credentials(token)) }
        for header in headers where header.isWellFormed {
            let isTaken =
                request.headers.contains(header.name) || WireHeader.reserved.contains { header.isNamed($0) }
            if !isTaken { request.headers.append(header) }
        }
        return request
    }

    /// The request for the server's event stream, of some tables, or of all if there are too many for a URL.
    package func events(of names: [String]) -> HTTPRequest {
        var request = HTTPRequest("GET", tables + "/$events")
        let list = names.joined(separator: ",")
        let isFine = !list.isEmpty && list.utf8.count <= 2048 && !names.contains { $0.utf8.contains(0x2c) }
        if isFine { request.query = [HTTPHeader("tables", list)] }
        return request
    }

    /// The question what the caller may do to a table, or to a row.
    package func access(to table: String, id: String?) -> HTTPRequest {
        var request = HTTPRequest("GET", tables + "/$access")
        request.query = [HTTPHeader("table", table)]
        if let id { request.query.append(HTTPHeader("id", id)) }
        return request
    }

    private func at(_ method: String, _ table: String, _ id: String? = nil) -> HTTPRequest {
        var path = tables
        path.reserveCapacity(tables.utf8.count + table.utf8.count + (id?.utf8.count ?? 0) + 2)
        path += "/"
        path += table
        if let id {
            path += "/"
            path += id
        }
        var request = HTTPRequest(method, path)
        if table.hasSlash || id?.hasSlash == true {
            request.segments = tables.split(separator: "/").map(String.init) + [table] + (id.map { [$0] } ?? [])
        }
        return request
    }

    private func credentials(_ token: String) -> HTTPHeader {
        switch serverProtocol {
        case .zumo2: HTTPHeader("X-ZUMO-AUTH", token)
        case .datasync3: HTTPHeader("Authorization", "Bearer " + token)
        }
    }

    /// The newer protocol's parameter for deleted rows.
    private static let includesDeleted = HTTPHeader("__includedeleted", "true")

    // MARK: Writes

    private func request(_ write: WriteRequest) -> HTTPRequest {
        var request: HTTPRequest
        switch write.kind {
        case .insert where write.undelete != nil && serverProtocol == .zumo2:
            request = at("POST", write.table, write.id)
        case .insert where write.undelete != nil:
            request = at("PUT", write.table, write.id)
            request.query = [WireCodec.includesDeleted]
            request.body = body(write, withID: true)
        case .insert:
            request = at("POST", write.table)
            request.body = body(write, withID: true)
        case .update:
            request = at(serverProtocol == .zumo2 ? "PATCH" : "PUT", write.table, write.id)
            request.body = body(write, withID: serverProtocol == .datasync3)
        case .delete:
            request = at("DELETE", write.table, write.id)
        }
        // The common headers come first.
        request.headers.reserveCapacity(5)
        if request.body != nil { request.headers.append(HTTPHeader("Content-Type", "application/json")) }
        if let version = write.version, write.kind != .insert || write.undelete != nil {
            request.headers.append(HTTPHeader("If-Match", EntityTag.text(of: version)))
        }
        request.headers.append(HTTPHeader(WireHeader.operationID, write.operationID))
        return request
    }

    private func body(_ write: WriteRequest, withID: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.write(row: write.body, id: withID ? write.id : nil)
        return writer.bytes
    }

    private func batch(_ writes: [WriteRequest]) -> HTTPRequest {
        var request = HTTPRequest("POST", tables + "/$batch")
        var writer = JSONWriter()
        writer.raw(#"{"operations":["#)
        for (index, write) in writes.enumerated() {
            writer.raw(index == 0 ? "{" : ",{")
            let operation =
                switch write.kind {
                case .insert: "insert"
                case .update: serverProtocol == .zumo2 ? "update" : "replace"
                case .delete: "delete"
                }
            writer.raw(#""operation":"\#(operation)","table":"#)
            writer.write(.string(write.table))
            writer.raw(#","id":"#)
            writer.write(.string(write.id))
            if write.kind != .delete {
                writer.raw(#","item":"#)
                writer.write(row: write.body, id: nil)
            }
            if let version = write.version, write.kind != .insert {
                writer.raw(#","ifMatch":"#)
                writer.write(.string(version))
            }
            writer.raw(#","operationId":"#)
            writer.write(.string(write.operationID))
            writer.raw("}")
        }
        writer.raw("]}")
        request.body = writer.bytes
        request.headers = [HTTPHeader("Content-Type", "application/json")]
        return request
    }

    // MARK: Lists

    private func request(_ changes: ChangesRequest) throws(UnsupportedPredicate) -> HTTPRequest {
        var request = at("GET", changes.table, "changes")
        request.query = [HTTPHeader("since", changes.since), HTTPHeader("$top", String(changes.top))]
        if let filter = changes.filter {
            request.query.append(HTTPHeader("$filter", try filter.forServers.text(for: serverProtocol)))
        }
        if changes.counts { request.query.append(HTTPHeader("$count", "true")) }
        if !changes.select.isEmpty {
            request.query.append(HTTPHeader("$select", changes.select.joined(separator: ",")))
        }
        return request
    }

    private func parameters(_ list: ListRequest) throws(UnsupportedPredicate) -> [HTTPHeader] {
        var parameters: [HTTPHeader] = []
        if let filter = list.filter {
            parameters.append(HTTPHeader("$filter", try filter.forServers.text(for: serverProtocol)))
        }
        try list.order.checkForServers()
        if !list.order.isEmpty {
            let keys = list.order.map { $0.column + ($0.isDescending ? " desc" : "") }
            parameters.append(HTTPHeader("$orderby", keys.joined(separator: ",")))
        }
        if let top = list.top { parameters.append(HTTPHeader("$top", String(top))) }
        if list.skip > 0 { parameters.append(HTTPHeader("$skip", String(list.skip))) }
        if let select = list.select { parameters.append(HTTPHeader("$select", select.joined(separator: ","))) }
        switch serverProtocol {
        case .zumo2:
            if list.counts { parameters.append(HTTPHeader("$inlinecount", "allpages")) }
            if list.includesDeleted { parameters.append(HTTPHeader("__includeDeleted", "true")) }
        case .datasync3:
            if list.counts { parameters.append(HTTPHeader("$count", "true")) }
            if list.includesDeleted { parameters.append(WireCodec.includesDeleted) }
        }
        return parameters
    }
}

extension String {
    fileprivate var hasSlash: Bool {
        utf8.withContiguousStorageIfAvailable { $0.contains(UInt8(ascii: "/")) } ?? utf8.contains(UInt8(ascii: "/"))
    }
}

extension ServerProtocol {
    /// The protocol version of a request.
    package var versionText: String {
        switch self {
        case .zumo2: "2.0.0"
        case .datasync3: "3.0.0"
        }
    }
}
