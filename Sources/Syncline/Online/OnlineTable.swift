// Direct access to one table of a server. Nothing is stored locally: results are returned, and the server's errors
// are thrown.

public import SynclineCore
import SynclineWire

/// A table of a server, used without a local store.
public struct OnlineTable: Sendable {
    let channel: ServerChannel
    /// The table's name.
    public let name: String

    /// One page of rows.
    public struct Page: Hashable, Sendable {
        /// The rows, in the server's order.
        public var rows: [StoredRow]
        /// The total number of matching rows, if the query asked for it.
        public var count: Int?
        /// The server's link to the next page, if it sent one.
        var next: String?

        /// Whether the server has more rows.
        public var hasMore: Bool { next != nil }
    }

    // MARK: Reading

    /// Returns a row, or nil if the server has none.
    @concurrent
    public func get(id: String) async throws(SyncError) -> StoredRow? {
        try Item.check(id: id)
        let reply = try await send(.row(table: name, id: id))
        return reply.status == 404 || reply.status == 410 ? nil : try row(reply)
    }

    /// Returns the first page of matching rows; the server decides its size. The filter has the same meaning as in
    /// local tables: `x ne 5` also matches rows without an `x`.
    @concurrent
    public func query(_ query: RowQuery) async throws(SyncError) -> Page {
        guard query.after == nil else {
            throw SyncError(
                .unsupportedPredicate, "an online list can't continue after a place",
                hint: "Ask for the next page with page(after:).")
        }
        var list = ListRequest(table: name, filter: query.filter)
        list.order = query.order
        list.top = query.top
        list.skip = query.skip
        list.select = query.select
        list.counts = query.countsAll
        list.includesDeleted = false
        return try await page(list)
    }

    /// Returns the page after another, or nil after the last.
    @concurrent
    public func page(after page: Page) async throws(SyncError) -> Page? {
        guard let next = page.next else { return nil }
        var list = ListRequest(table: name)
        list.continuation = next
        return try await self.page(list)
    }

    private func page(_ list: ListRequest) async throws(SyncError) -> Page {
        let reply = try await send(.list(list))
        guard reply.status == 200 else { throw error(reply) }
        guard case .list(let found) = reply.content else {
            throw SyncError(.serverError, "the response is not a list of rows")
        }
        if let row = found.rows.first(where: { $0.fault != nil }), let fault = row.fault {
            throw SyncError(
                .serverError,
                "a row of the response can't be read (\(row.id.isEmpty ? "row \(fault.place)" : row.id)): \(fault.reason)",
                hint: "Select other columns, or filter the row out.")
        }
        return Page(
            rows: found.rows.map { StoredRow(id: $0.id, columns: $0.columns) }, count: found.count, next: found.next)
    }

    // MARK: Writing

    /// Inserts a row and returns the server's row. The server makes an id if the item has none.
    @discardableResult
    @concurrent
    public func insert(_ item: Value) async throws(SyncError) -> StoredRow {
        let item = try Item(item)
        var request = HTTPRequest("POST", path)
        request.body = body(item, withID: true)
        return try row(await write(request))
    }

    /// Updates a row; if the item has a version, only if it is still the server's version. With the newer protocol
    /// the item is the whole row.
    @discardableResult
    @concurrent
    public func update(_ item: Value, version: String? = nil) async throws(SyncError) -> StoredRow {
        let item = try Item(item)
        guard let id = item.id else { throw SyncError(.missingID, "an update needs the id of the row") }
        let isPart = channel.server == .zumo2
        var request = HTTPRequest(isPart ? "PATCH" : "PUT", path + "/" + id)
        request.body = body(item, withID: !isPart)
        return try row(await write(request, version))
    }

    /// Deletes a row; with a version, only if it is still the server's version.
    @concurrent
    public func delete(id: String, version: String? = nil) async throws(SyncError) {
        try Item.check(id: id)
        let reply = try await write(HTTPRequest("DELETE", path + "/" + id), version)
        guard (200..<300).contains(reply.status) else { throw error(reply) }
    }

    /// Restores a row that a server with soft delete still has.
    @discardableResult
    @concurrent
    public func undelete(id: String, version: String? = nil) async throws(SyncError) -> StoredRow {
        try Item.check(id: id)
        if channel.server == .zumo2 {
            return try row(await write(HTTPRequest("POST", path + "/" + id), version))
        }
        var read = HTTPRequest("GET", path + "/" + id)
        read.query = [HTTPHeader("__includedeleted", "true")]
        let known = try row(await write(read))
        var request = HTTPRequest("PUT", path + "/" + id)
        request.query = read.query
        let members = known.columns.own.members + [.init("deleted", .bool(false))]
        request.body = Array(Value.object([.init("id", .string(id))] + members).json.utf8)
        return try row(await write(request, version))
    }

    // MARK: Parts

    private var path: String { channel.codec.tables + "/" + name }

    private func body(_ item: Item, withID: Bool) -> [UInt8] {
        let id = item.id.map { [Value.Member("id", .string($0))] } ?? []
        return Array(Value.object((withID ? id : []) + item.columns.members).json.utf8)
    }

    private func send(_ request: ServerRequest) async throws(SyncError) -> ServerReply {
        let message: HTTPRequest
        do throws(UnsupportedPredicate) {
            message = try channel.codec.plain(request)
        } catch {
            throw SyncError(error)
        }
        return channel.codec.reply(try await channel.exchange(message), to: request)
    }

    private func write(_ request: HTTPRequest, _ version: String? = nil) async throws(SyncError) -> ServerReply {
        var request = request
        if let version { request.headers.append(HTTPHeader("If-Match", EntityTag.text(of: version))) }
        if request.body != nil { request.headers.append(HTTPHeader("Content-Type", "application/json")) }
        return channel.codec.reply(try await channel.exchange(request), to: .row(table: name, id: ""))
    }

    private func row(_ reply: ServerReply) throws(SyncError) -> StoredRow {
        guard (200..<300).contains(reply.status) else { throw error(reply) }
        guard case .row(let row) = reply.content else {
            throw SyncError(.serverError, "the response is not a row")
        }
        return StoredRow(id: row.id, columns: row.columns)
    }

    private func error(_ reply: ServerReply) -> SyncError {
        let words = reply.message ?? "the server answered \(reply.status)"
        return switch reply.status {
        case 401: SyncError.unauthorized(reply)
        case 404, 410: SyncError(.rowGone, words, hint: "The server has no such row.")
        case 409, 412: SyncError(.conflict, words, hint: "Get the server's row and try again with its version.")
        case 408, 429, 500...: SyncError(of: reply)
        default: SyncError(.rejected, words)
        }
    }
}
