// Requests to a table or a row, in either protocol.

import SynclineCore
import SynclineGround
import SynclineWire

extension TableService {
    /// Answers a request to a table, or to a row with an id.
    func exchange(
        _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ visit: Visit, id: String, _ url: String
    ) throws(StoreFailure) -> HTTPResponse {
        let table = visit.table
        let rules = rules(for: table, request)
        let parsed = try read(try TableRequest(request, protocolVersion, table: table.name, id: id, rules: rules))
        switch parsed.action {
        case .row: return try row(request, parsed, visit)
        case .list(let list): return try self.list(request, parsed, list, visit, url)
        default: return try write(request, parsed, visit, url)
        }
    }

    /// Reads a part of a request, and converts its errors.
    func read<Result>(_ body: @autoclosure () throws(TableRequestError) -> Result) throws(StoreFailure) -> Result {
        do throws(TableRequestError) {
            return try body()
        } catch {
            throw .refused(Refusal(error.status, error.code, error.message))
        }
    }

    // MARK: Reading

    private func row(
        _ request: HTTPRequest, _ parsed: TableRequest, _ visit: Visit
    ) throws(StoreFailure) -> HTTPResponse {
        let row = try store.row(visit.table.name, id: parsed.id, seenBy: visit.caller)
        return try answer(row, request, parsed, visit)
    }

    func answer(
        _ row: TableRow?, _ request: HTTPRequest, _ parsed: TableRequest, _ visit: Visit
    ) throws(StoreFailure) -> HTTPResponse {
        guard let row else { throw .refused(.rowNotFound) }
        let isNew = parsed.serverProtocol == .datasync3
        if row.isDeleted, !parsed.includesDeleted {
            throw .refused(isNew ? Refusal(410, "row-deleted", "The item is deleted") : .rowNotFound)
        }
        if isNew, isUnchanged(row, request) {
            var response = HTTPResponse(status: 304)
            response.headers = [HTTPHeader("ETag", EntityTag.text(of: row.version))]
            return response
        }
        let response = withCommonHeaders(
            TableAnswer(parsed.serverProtocol).row(visit.hidden.shown(row)), row, parsed.serverProtocol)
        return marked(response, row.change)
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
        _ request: HTTPRequest, _ parsed: TableRequest, _ list: ListRequest, _ visit: Visit, _ url: String
    ) throws(StoreFailure) -> HTTPResponse {
        let table = visit.table
        let named = (list.filter?.columns ?? []).union((list.order.map(\.column) + (list.select ?? [])).exact)
        try checkNames(named, table)
        try visit.hidden.check(named)
        var plan = ListPlan(
            table: table.name, filter: list.filter, order: list.order, skip: list.skip,
            limit: min(list.top ?? .max, settings.pageSize), includesDeleted: list.includesDeleted,
            counts: list.counts, subject: visit.caller?.subject)
        if let text = list.after {
            guard let place = PagePlace(text, order: list.order) else {
                throw .refused(Refusal(400, "invalid-page", "$after is not a position in this order"))
            }
            plan.after = place
        }
        let outcome = try store.list(plan)
        let wantsPath = request.headers.contains {
            $0.isNamed("X-ZUMO-Options") && $0.value.lowercased().contains("nextlink=path")
        }
        var next: String?
        var response = TableAnswer(parsed.serverProtocol).list(
            outcome.rows.map(visit.hidden.shown), select: list.select, count: outcome.count, limit: settings.answerBytes
        ) { told in
            next = self.next(request, list, table, outcome, told: told)
            return next.map { wantsPath ? "\(request.pathText)?\($0)" : $0 }
        }
        if parsed.serverProtocol == .zumo2, let next {
            response.headers.append(HTTPHeader("Link", "\(request.base(url))\(request.pathText)?\(next); rel=next"))
        }
        return marked(response, outcome.rows.compactMap(\.change).max())
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
    func checkNames(_ names: Set<ExactString>, _ table: TableDefinition) throws(StoreFailure) {
        guard let schema = store.schema(table.name), !schema.definition.dynamicSchema else { return }
        for name in names.sorted().map(\.text)
        where schema.place(ofAnyCase: name) == nil && SystemColumn(anyCase: name) == nil {
            throw .refused(Refusal(400, "unknown-column", "Table \(table.name) has no column \(name.prefix(80))"))
        }
    }

    // MARK: Writing

    private func write(
        _ request: HTTPRequest, _ parsed: TableRequest, _ visit: Visit, _ url: String
    ) throws(StoreFailure) -> HTTPResponse {
        let write = try self.write(parsed, request.headers, visit)
        return try answer(store.write(together: [write])[0].get(), request, parsed.serverProtocol, visit, url)
    }

    /// The write that a request asks for, if its caller may carry it out.
    func write(
        _ parsed: TableRequest, _ headers: [HTTPHeader], _ visit: Visit
    ) throws(StoreFailure) -> TableWrite {
        let table = visit.table
        var write = TableWrite(.undelete, table: table.name, id: parsed.id, serverProtocol: parsed.serverProtocol)
        switch parsed.action {
        case .insert(let item): (write.kind, write.id) = (.insert(item.columns), try newID(parsed, table))
        case .update(let item): (write.kind, write.version) = (.update(item.columns), item.version)
        case .replace(let item):
            (write.kind, write.version) = (.replace(item.columns), item.version)
            if parsed.includesDeleted { write.revives = !(item.isDeleted ?? false) }
        case .patch(let patch):
            write.kind = .patch(patch)
            if patch.mayChange(member: "deleted") { write.revives = true }
        case .delete: write.kind = .delete
        case .undelete, .row, .list: break
        }
        if write.kind == .undelete || write.revives == true { try table.grant(.undelete, to: visit.caller) }
        (write.caller, write.hidden, write.conditions) = (visit.caller, visit.hidden, conditions(headers, parsed))
        // Both depend on values: their answers would tell a caller who may not read.
        if write.isPatch || write.conditions.unmodifiedSince != nil { try table.grant(.read, to: visit.caller) }
        guard let id = parsed.operationID else { return write }
        guard !id.isEmpty, id.utf8.count <= 255 else {
            throw .refused(Refusal(400, "invalid-operation-id", "An operation's id must have 1 to 255 bytes"))
        }
        write.operation = OperationKey(id: id, caller: visit.caller?.subject ?? "")
        return write
    }

    /// The id of an inserted row.
    private func newID(_ parsed: TableRequest, _ table: TableDefinition) throws(StoreFailure) -> String {
        if !parsed.id.isEmpty {
            do throws(RowIDFault) {
                try RowID.check(parsed.id)
                return parsed.id
            } catch {
                throw .refused(Refusal(400, "invalid-id", "The id is not valid: \(error.reason)"))
            }
        }
        let kind = store.schema(table.name)?.idKind ?? .text
        if kind == .integer {
            throw .refused(Refusal(400, "missing-id", "The ids of table \(table.name) are \(kind.plural); pass one"))
        }
        // An id of type UUID has dashes.
        return environment.newID(kind == .uuid ? .zumo2 : parsed.serverProtocol)
    }

    private func conditions(_ headers: [HTTPHeader], _ parsed: TableRequest) -> WriteConditions {
        var conditions = WriteConditions()
        conditions.match = parsed.condition
        guard parsed.serverProtocol == .datasync3 else { return conditions }
        if let text = headers.value("If-None-Match") {
            conditions.noneMatch = EntityTag.versions(text, takesWeak: true).map { .versions($0) } ?? .any
        }
        conditions.unmodifiedSince = headers.value("If-Unmodified-Since").flatMap(HTTPDate.instant)
        return conditions
    }

    func answer(
        _ outcome: WriteOutcome, _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ visit: Visit,
        _ url: String
    ) throws(StoreFailure) -> HTTPResponse {
        marked(try plainAnswer(outcome, request, protocolVersion, visit, url), outcome.shownRow?.change)
    }

    private func plainAnswer(
        _ outcome: WriteOutcome, _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ visit: Visit,
        _ url: String
    ) throws(StoreFailure) -> HTTPResponse {
        let isNew = protocolVersion == .datasync3
        // A caller who may not read is told only the id and the version of the row.
        func told(_ row: TableRow, _ status: Int, _ refusal: Refusal? = nil) -> HTTPResponse {
            let shown = visit.hidden.shown(row)
            return visit.mayRead && !row.isHidden
                ? withCommonHeaders(TableAnswer(protocolVersion).row(shown, status: status), row, protocolVersion)
                : TableAnswer.hidden(row, status: status, refusal.map { ($0.message, $0.code) })
        }
        switch outcome {
        case .done(.inserted, let row):
            var response = told(row, 201)
            if isNew {
                let location = "\(request.base(url))\(request.pathText)/\(PercentEncoding.encode(row.id))"
                response.headers.append(HTTPHeader("Location", location))
            }
            return response
        case .done(.deleted, _) where isNew: return HTTPResponse(status: 204)
        case .done(let effect, let row): return told(row, effect == .undeleted && !isNew ? 201 : 200)
        case .refused(let refusal, _):
            return outcome.shownRow.map { told($0, refusal.status, refusal) } ?? refusal.response
        case .failed(let failure): throw failure
        }
    }
}

extension HTTPRequest {
    /// Whether a header names a host in a form that links may repeat.
    package static func isHost(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 <= 10 || [0x2d, 0x2e, 0x5b, 0x5d, 0x5f].contains(byte)
            }
    }

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
