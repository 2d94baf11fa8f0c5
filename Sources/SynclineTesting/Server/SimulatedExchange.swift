// One request to the simulated server and its response, with all differences between the servers of the two
// protocols.

import SynclineCore
import SynclineGround
import SynclineWire

struct SimulatedExchange {
    let request: HTTPRequest
    let parsed: TableRequest

    private var isOld: Bool { parsed.serverProtocol == .zumo2 }
    private var answer: TableAnswer { TableAnswer(parsed.serverProtocol) }
    private var missing: HTTPResponse {
        answer.error(404, "The item does not exist").withWeakTag(parsed.serverProtocol)
    }

    // MARK: Reading

    func read(_ state: inout SimulatedServer.State) -> HTTPResponse {
        if case .list(let list) = parsed.action { return self.list(list, &state) }
        guard let row = state.tables[parsed.table]?[parsed.id] else { return missing }
        guard row.isDeleted else { return answer.row(row) }
        // The older servers never return a deleted row.
        if isOld { return missing }
        return parsed.includesDeleted ? answer.row(row) : HTTPResponse(status: 410)
    }

    private func list(_ list: ListRequest, _ state: inout SimulatedServer.State) -> HTTPResponse {
        let table = parsed.table
        let limit = state.tables[table]?.pageLimit ?? (isOld ? 50 : 100)
        let filter = list.filter?.asServersRead
        let matches = (state.tables[table]?.visibleRows() ?? []).filter { row in
            (list.includesDeleted || !row.isDeleted) && filter?.matches(row, FilterWork(isServers: true)) ?? true
        }
        let query = RowQuery(table: table, order: list.order)
        let sorted = matches.sorted { query.areInOrder(($0.id, $0), ($1.id, $1)) }
        let page = Array(sorted.dropFirst(list.skip).prefix(min(limit, list.top ?? limit)))
        let end = list.skip + page.count
        let rest = list.top.map { $0 - page.count }
        let hasMore = end < matches.count && !page.isEmpty && (rest ?? 1) > 0
        let next = hasMore ? request.nextPage(skip: end, top: rest) : nil
        let count = list.counts ? matches.count : nil
        var response = answer.list(page, select: list.select, count: count) { _ in isOld ? nil : next }
        if isOld, let next { response.headers.append(HTTPHeader("Link", "\(request.path)?\(next); rel=next")) }
        return response.withWeakTag(parsed.serverProtocol)
    }

    // MARK: Writing

    /// The result of a write.
    struct Done: Sendable {
        var response: HTTPResponse
        /// The row after the write, if the response has one.
        var row: TableRow?
    }

    /// Applies a write, unless one with its operation id was applied before.
    func applyOnce(_ state: inout SimulatedServer.State) -> Done {
        guard state.options.recognizesOperations, let operation = parsed.operationID else { return apply(&state) }
        if let known = state.answers[operation] { return known }
        let done = apply(&state)
        state.answers[operation] = done
        return done
    }

    private func apply(_ state: inout SimulatedServer.State) -> Done {
        let response = write(&state)
        let isShown = (200..<300).contains(response.status) || [409, 412].contains(response.status)
        // The row of an insert without an id is the latest.
        let table = state.tables[parsed.table]
        let row = parsed.id.isEmpty ? table?.latest : table?[parsed.id] ?? table?.deleted(parsed.id)
        return Done(response: response, row: isShown ? row : nil)
    }

    private func write(_ state: inout SimulatedServer.State) -> HTTPResponse {
        switch parsed.action {
        case .insert(let item): insert(item, &state)
        case .update(let item): change(item, &state) { $0.merged(with: item.columns) }
        case .replace(let item): replace(item, &state)
        case .delete: delete(&state)
        case .undelete: undelete(&state)
        case .row, .list, .patch: answer.error(405, "Method \(request.method) is not allowed")
        }
    }

    private func insert(_ item: TableItem, _ state: inout SimulatedServer.State) -> HTTPResponse {
        if let existing = state.tables[parsed.table]?[parsed.id] {
            guard isOld else { return answer.row(existing, status: 409) }
            // The older servers return the item they received.
            let own = [Value.Member("id", .string(parsed.id))] + item.columns.members
            return answer.echo(own, status: 409).withWeakTag(parsed.serverProtocol)
        }
        let (time, version) = state.stamp(parsed.table)
        let row = TableRow(
            id: parsed.id.isEmpty ? newID(state.writes) : parsed.id, columns: item.columns, createdAt: time,
            updatedAt: time, version: version)
        state.set(row, row.id, in: parsed.table)
        var response = answer.row(row, status: 201)
        if !isOld {
            let location = PercentEncoding.encode(row.id)
            response.headers.append(HTTPHeader("Location", "\(request.path)/\(location)"))
        }
        return response
    }

    private func newID(_ number: Int) -> String {
        let tail = Hexadecimal.text(number, digits: 12)
        return isOld ? "00000000-0000-4000-8000-\(tail)" : "00000000000040008000\(tail)"
    }

    /// Nil if the row satisfies `If-Match`.
    private func refusal(_ row: TableRow) -> HTTPResponse? {
        parsed.condition?.allows(row.version) ?? true ? nil : answer.row(row, status: 412)
    }

    private func replace(_ item: TableItem, _ state: inout SimulatedServer.State) -> HTTPResponse {
        if let row = state.tables[parsed.table]?[parsed.id], row.isDeleted, !parsed.includesDeleted {
            return HTTPResponse(status: 410)
        }
        if let row = state.tables[parsed.table]?[parsed.id], row.isDeleted, !state.options.undeletes {
            return answer.error(403, "Deleted rows stay deleted")
        }
        return change(item, &state, isDeleted: item.isDeleted ?? false) { _ in item.columns }
    }

    private func change(
        _ item: TableItem, _ state: inout SimulatedServer.State, isDeleted: Bool? = nil, _ columns: (Row) -> Row
    ) -> HTTPResponse {
        guard var row = state.tables[parsed.table]?[parsed.id] else { return missing }
        if let refusal = refusal(row) { return refusal }
        if isOld, parsed.condition == nil, let version = item.version, version != row.version {
            return answer.row(row, status: 409)
        }
        (row.updatedAt, row.version) = state.stamp(parsed.table)
        row.columns = columns(row.columns)
        if let isDeleted { row.isDeleted = isDeleted }
        state.set(row, row.id, in: parsed.table)
        return answer.row(row)
    }

    private func delete(_ state: inout SimulatedServer.State) -> HTTPResponse {
        guard var row = state.tables[parsed.table]?[parsed.id] else { return missing }
        if row.isDeleted {
            guard isOld else { return HTTPResponse(status: 410) }
            return answer.row(row, status: parsed.condition == nil ? 409 : 412)
        }
        if let refusal = refusal(row) { return refusal }
        (row.updatedAt, row.version) = state.stamp(parsed.table)
        row.isDeleted = true
        state.set(state.options.deletesForGood ? nil : row, row.id, in: parsed.table)
        return isOld ? answer.row(row) : HTTPResponse(status: 204)
    }

    private func undelete(_ state: inout SimulatedServer.State) -> HTTPResponse {
        guard state.options.undeletes else { return answer.error(405, "Method undelete is not allowed") }
        guard var row = state.tables[parsed.table]?[parsed.id] else { return missing }
        if let refusal = refusal(row) { return refusal }
        (row.updatedAt, row.version) = state.stamp(parsed.table)
        row.isDeleted = false
        state.set(row, row.id, in: parsed.table)
        return answer.row(row, status: 201)
    }
}
