// Requests to a table or a row, in either protocol.

import SynclineCore
import SynclineGround
import SynclineWire

extension TableService {
    /// Answers a request to a table, or to a row with an id.
    func exchange(
        _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ visit: Visit, id: String, _ url: String
    ) throws(ServiceFailure) -> HTTPResponse {
        let (table, owner) = (visit.table, visit.owner)
        let parsed = try read { () throws(TableRequestError) in
            try TableRequest(request, protocolVersion, table: table.name, id: id, rules: rules(for: table, request))
        }
        switch parsed.action {
        case .row: return try row(request, parsed, table, owner)
        case .list(let list): return try self.list(request, parsed, list, table, owner, url)
        default: return try write(request, parsed, visit, url)
        }
    }

    /// Calls the store and converts its failures into the service's.
    func ask<Result>(_ body: () throws(StoreFailure) -> Result) throws(ServiceFailure) -> Result {
        do throws(StoreFailure) { return try body() } catch { throw .store(error) }
    }

    /// Reads a part of a request, and converts its errors into the service's.
    func read<Result>(_ body: () throws(TableRequestError) -> Result) throws(ServiceFailure) -> Result {
        do throws(TableRequestError) {
            return try body()
        } catch {
            throw .refused(Refusal(error.status, error.code, error.message))
        }
    }

    // MARK: Reading

    private func row(
        _ request: HTTPRequest, _ parsed: TableRequest, _ table: TableDefinition, _ owner: String?
    ) throws(ServiceFailure) -> HTTPResponse {
        let found = try ask { () throws(StoreFailure) in try store.row(table.name, id: parsed.id) }
        guard let row = found, table.shows(row.columns, to: owner) else { throw .refused(.rowNotFound) }
        let isNew = parsed.serverProtocol == .datasync3
        if row.isDeleted, !parsed.includesDeleted {
            throw .refused(isNew ? Refusal(410, "row-deleted", "The item is deleted") : .rowNotFound)
        }
        if isNew, isUnchanged(row, request) {
            var response = HTTPResponse(status: 304)
            response.headers = [HTTPHeader("ETag", EntityTag.text(of: row.version))]
            return response
        }
        return withCommonHeaders(TableAnswer(parsed.serverProtocol).row(row), row, parsed.serverProtocol)
    }

    private func isUnchanged(_ row: TableRow, _ request: HTTPRequest) -> Bool {
        if let text = request.headers.value("If-None-Match") {
            return EntityTag.versions(text, takesWeak: true)?.contains(row.version) ?? true
        }
        guard let since = request.headers.value("If-Modified-Since").flatMap(HTTPDate.instant) else { return false }
        // The header has whole seconds.
        return row.updatedAt.seconds <= since.seconds
    }

    /// Adds the newer protocol's headers to an answer with one row.
    private func withCommonHeaders(_ response: HTTPResponse, _ row: TableRow, _ protocolVersion: ServerProtocol)
        -> HTTPResponse
    {
        guard protocolVersion == .datasync3 else { return response }
        var response = response
        response.headers.append(HTTPHeader("Last-Modified", HTTPDate.text(of: row.updatedAt)))
        return response
    }

    private func list(
        _ request: HTTPRequest, _ parsed: TableRequest, _ list: ListRequest, _ table: TableDefinition, _ owner: String?,
        _ url: String
    ) throws(ServiceFailure) -> HTTPResponse {
        let named = (list.filter?.columns ?? []).union((list.order.map(\.column) + (list.select ?? [])).exact)
        try checkNames(named, table)
        var plan = ListPlan(
            table: table.name, filter: list.filter, order: list.order, skip: list.skip,
            limit: min(list.top ?? .max, settings.pageSize), includesDeleted: list.includesDeleted,
            counts: list.counts, owner: owner)
        if let text = list.after {
            guard let place = PagePlace(text, order: list.order) else {
                throw .refused(Refusal(400, "invalid-page", "$after is not a position in this order"))
            }
            plan.after = place
        }
        let outcome = try ask { () throws(StoreFailure) in try store.list(plan) }
        let wantsPath = request.headers.contains {
            $0.isNamed("X-ZUMO-Options") && $0.value.lowercased().contains("nextlink=path")
        }
        var next: String?
        var response = TableAnswer(parsed.serverProtocol).list(
            outcome.rows, select: list.select, count: outcome.count, limit: settings.answerBytes
        ) { told in
            next = self.next(request, list, table, outcome, told: told)
            return next.map { wantsPath ? "\(request.pathText)?\($0)" : $0 }
        }
        if parsed.serverProtocol == .zumo2, let next {
            response.headers.append(HTTPHeader("Link", "\(request.base(url))\(request.pathText)?\(next); rel=next"))
        }
        return response
    }

    /// The parameters of the page after one that contained the first rows.
    private func next(
        _ request: HTTPRequest, _ list: ListRequest, _ table: TableDefinition, _ outcome: ListOutcome, told: Int
    ) -> String? {
        let rest = list.top.map { $0 - told }
        guard told > 0, outcome.hasMore || told < outcome.rows.count, (rest ?? 1) > 0 else { return nil }
        // Adopted tables may have times that are more exact than a place's.
        let isOwn = store.schema(table.name)?.isOwn == true
        let place = isOwn ? PagePlace(outcome.rows[told - 1], order: list.order)?.text : nil
        return request.nextPage(skip: list.skip + told, top: rest, after: place)
    }

    /// The rules for reading a request to a table: its filter must fit the columns.
    func rules(for table: TableDefinition, _ request: HTTPRequest) -> RequestRules {
        var rules = settings.rules
        if request.query.isEmpty || rules.keepsQuirks { return rules }
        rules.typing = store.schema(table.name)?.typing
        return rules
    }

    /// Unknown columns on a fixed-schema table are the client's error.
    func checkNames(_ names: Set<ExactString>, _ table: TableDefinition) throws(ServiceFailure) {
        guard let schema = store.schema(table.name), !schema.definition.dynamicSchema else { return }
        for name in names.sorted().map(\.text)
        where schema.place(ofAnyCase: name) == nil && SystemColumn(anyCase: name) == nil {
            throw .refused(
                Refusal(400, "unknown-column", "Table \(table.name) has no column \(name.prefix(80))"))
        }
    }

    // MARK: Writing

    private func write(
        _ request: HTTPRequest, _ parsed: TableRequest, _ visit: Visit, _ url: String
    ) throws(ServiceFailure) -> HTTPResponse {
        let protocolVersion = parsed.serverProtocol
        let table = visit.table
        func make(_ kind: TableWrite.Kind) -> TableWrite {
            TableWrite(kind, table: table.name, id: parsed.id, serverProtocol: protocolVersion)
        }
        var write: TableWrite
        switch parsed.action {
        case .insert(let item): write = try insert(item, table, protocolVersion)
        case .update(let item):
            write = make(.update(item.columns))
            write.version = item.version
        case .replace(let item):
            write = make(.replace(item.columns))
            write.version = item.version
            if parsed.includesDeleted { write.revives = !(item.isDeleted ?? false) }
        case .patch(let patch):
            write = make(.patch(patch))
            if patch.mayChange(member: "deleted") { write.revives = true }
        case .delete: write = make(.delete)
        case .undelete, .row, .list: write = make(.undelete)
        }
        if write.kind == .undelete || write.revives == true {
            _ = try grant(.undelete, table, visit.caller)
        }
        write.owner = visit.owner
        write.conditions = conditions(request, parsed)
        // Both depend on values: their answers would tell a caller who may not read.
        if write.isPatch || write.conditions.unmodifiedSince != nil { _ = try grant(.read, table, visit.caller) }
        write.operation = try operation(parsed.operationID, visit.caller)
        let outcomes = try ask { () throws(StoreFailure) in try store.write([[write]], stopsAtRefusal: false) }
        let outcome = outcomes[0][0]
        return visit.mayRead
            ? try answer(outcome, request, protocolVersion, url)
            : try answer(hidden: outcome, request, protocolVersion, url)
    }

    func insert(
        _ item: TableItem, _ table: TableDefinition, _ protocolVersion: ServerProtocol
    ) throws(ServiceFailure) -> TableWrite {
        let id = item.id ?? ""
        if !id.isEmpty {
            do throws(RowIDFault) {
                try RowID.check(id)
            } catch {
                throw .refused(Refusal(400, "invalid-id", "The id is not valid: \(error.reason)"))
            }
        }
        let kind = store.schema(table.name)?.idKind ?? .text
        if id.isEmpty, kind == .integer {
            throw .refused(Refusal(400, "missing-id", "The ids of table \(table.name) are \(kind.plural); pass one"))
        }
        // An id of type UUID has dashes.
        let made = id.isEmpty ? environment.newID(kind == .uuid ? .zumo2 : protocolVersion) : id
        return TableWrite(.insert(item.columns), table: table.name, id: made, serverProtocol: protocolVersion)
    }

    private func conditions(_ request: HTTPRequest, _ parsed: TableRequest) -> WriteConditions {
        var conditions = WriteConditions()
        conditions.match = parsed.condition
        guard parsed.serverProtocol == .datasync3 else { return conditions }
        if let text = request.headers.value("If-None-Match") {
            conditions.noneMatch = EntityTag.versions(text, takesWeak: true).map { .versions($0) } ?? .any
        }
        conditions.unmodifiedSince = request.headers.value("If-Unmodified-Since").flatMap(HTTPDate.instant)
        return conditions
    }

    func operation(_ id: String?, _ caller: Caller?) throws(ServiceFailure) -> OperationKey? {
        guard let id else { return nil }
        guard !id.isEmpty, id.utf8.count <= 255 else {
            throw .refused(Refusal(400, "invalid-operation-id", "An operation's id must have 1 to 255 bytes"))
        }
        return OperationKey(id: id, caller: caller?.subject ?? "")
    }

    private func answer(
        _ outcome: WriteOutcome, _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ url: String
    ) throws(ServiceFailure) -> HTTPResponse {
        let answer = TableAnswer(protocolVersion)
        let isNew = protocolVersion == .datasync3
        switch outcome {
        case .done(.inserted, let row):
            var response = withCommonHeaders(answer.row(row, status: 201), row, protocolVersion)
            if isNew { response.headers.append(location(of: row, request, url)) }
            return response
        case .done(.changed, let row): return withCommonHeaders(answer.row(row), row, protocolVersion)
        case .done(.deleted, let row): return isNew ? HTTPResponse(status: 204) : answer.row(row)
        case .done(.undeleted, let row):
            return withCommonHeaders(answer.row(row, status: isNew ? 200 : 201), row, protocolVersion)
        case .refused(let refusal, let row):
            if let row, [409, 412].contains(refusal.status) {
                return withCommonHeaders(answer.row(row, status: refusal.status), row, protocolVersion)
            }
            return refusal.response
        case .failed(let failure): throw .store(failure)
        }
    }

    private func location(of row: TableRow, _ request: HTTPRequest, _ url: String) -> HTTPHeader {
        HTTPHeader("Location", "\(request.base(url))\(request.pathText)/\(PercentEncoding.encode(row.id))")
    }

    /// The answer to a caller who may not read: of the row it has only the id and the version.
    private func answer(
        hidden outcome: WriteOutcome, _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ url: String
    ) throws(ServiceFailure) -> HTTPResponse {
        let isNew = protocolVersion == .datasync3
        switch outcome {
        case .done(.inserted, let row):
            var response = TableAnswer.hidden(row, status: 201)
            if isNew { response.headers.append(location(of: row, request, url)) }
            return response
        case .done(.deleted, _) where isNew: return HTTPResponse(status: 204)
        case .done(let effect, let row):
            return TableAnswer.hidden(row, status: effect == .undeleted && !isNew ? 201 : 200)
        case .refused(let refusal, let row?) where [409, 412].contains(refusal.status):
            return TableAnswer.hidden(row, status: refusal.status, (refusal.message, refusal.code))
        case .refused(let refusal, _): return refusal.response
        case .failed(let failure): throw .store(failure)
        }
    }
}

extension HTTPRequest {
    /// The URL under which the client reached the server: links must use it, too.
    func base(_ url: String) -> String {
        guard let host = headers.value("Host"), HTTPRequest.isHost(host), let colon = url.firstIndex(of: ":") else {
            return url
        }
        return url[..<colon] + "://" + host
    }

    /// The path in URL encoding.
    var pathText: String {
        var path = self
        path.query = []
        return path.target(below: "")
    }
}
