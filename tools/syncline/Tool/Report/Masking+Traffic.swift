// Masks recorded traffic so that requests made from a masked log are found in it. Of a response only the parts that the
// protocol defines keep their form; everything else is masked like the values of a row.

import SynclineCore
import SynclineGround
import SynclineReports
import SynclineWire

extension Masking {
    convenience init(_ options: Options, of projector: Projector) {
        self.init(options, ids: projector.state.ids, coded: Base64.encode)
    }

    // MARK: Sessions

    /// A command that talked to the server, with all its traffic.
    func mask(_ session: TrafficSession) -> TrafficSession {
        var session = session
        session.words = mask(session)
        session.exchanges = session.exchanges.map { mask($0) }
        session.report = session.report.map { mask(report: $0.withoutWords) }
        return session
    }

    private func mask(_ session: TrafficSession) -> [String] {
        let words = session.words
        let end = words.firstIndex(of: "--") ?? words.endIndex
        let table = words[end...].dropFirst().first ?? ""
        var masked: [String] = []
        for (index, word) in words.enumerated() {
            switch index > 0 && index < end ? words[index - 1] : "" {
            case _ where index > end: masked.append(mask(table: word))
            case "--filter": masked.append(mask(filter: word, table, for: .datasync3))
            case "--query-id": masked.append(mask(queryID: word))
            case "--orderby": masked.append(mask(names: word))
            case "--table": masked.append(mask(table: word))
            default: masked.append(word)
            }
        }
        return masked
    }

    /// Columns separated by commas, each with its direction.
    private func mask(names text: String) -> String {
        text.split(separator: ",").map { key in
            let words = key.split(separator: " ").map(String.init)
            return ([mask(column: words.first ?? "")] + words.dropFirst()).joined(separator: " ")
        }.joined(separator: ",")
    }

    private func mask(report value: Value) -> Value {
        switch value {
        case .array(let elements): .array(elements.map { mask(report: $0) })
        case .object(let members):
            .object(
                members.map { member in
                    switch (member.name, member.value) {
                    case ("table", .string(let table)): .init("table", .string(mask(table: table)))
                    case ("id", .string(let id)): .init("id", .string(mask(id: id)))
                    default: .init(member.name, mask(report: member.value))
                    }
                })
        default: value
        }
    }

    // MARK: Exchanges

    private func mask(_ exchange: RecordedExchange) -> RecordedExchange {
        var exchange = exchange
        let dialect = exchange.request.dialect
        let asked = exchange.request.body.flatMap { try? Value(json: $0) }
        let path = exchange.request.path.split(separator: "/", maxSplits: 2).map(String.init)
        let table = path.count > 1 && path[0] == "tables" ? path[1] : ""
        exchange.request.path = mask(path: path)
        exchange.request.query = exchange.request.query.map { mask(parameter: $0, table, dialect) }
        exchange.request.headers.removeAll { $0.isNamed("Content-Length") }
        exchange.request.body = asked.map { Array(mask(request: $0, table).json.utf8) }
        switch exchange.outcome {
        case .response(var response):
            response.headers.removeAll { $0.isNamed("Content-Length") }
            if let body = try? Value(json: response.body) {
                response.body = Array(mask(answer: body, table, tables(of: asked), dialect).json.utf8)
            } else if !response.body.isEmpty {
                response.body = Array(mask(words: "").utf8)
            }
            exchange.outcome = .response(response)
        case .failure(.offline(let reason)): exchange.outcome = .failure(.offline(mask(words: reason)))
        case .failure(.refused(let reason)): exchange.outcome = .failure(.refused(mask(words: reason)))
        case .failure(.cancelled), .failure(.notSent): break
        }
        return exchange
    }

    private func mask(path: [String]) -> String {
        var path = path
        if path.count > 1, path[0] == "tables", !path[1].hasPrefix("$") { path[1] = mask(table: path[1]) }
        if path.count > 2, path[2] != "changes" { path[2] = mask(id: path[2]) }
        return "/" + path.joined(separator: "/")
    }

    private func mask(parameter: HTTPHeader, _ table: String, _ dialect: ServerProtocol) -> HTTPHeader {
        switch parameter.name.lowercased() {
        case "$filter": HTTPHeader(parameter.name, mask(filter: parameter.value, table, for: dialect))
        case "$orderby", "$select": HTTPHeader(parameter.name, mask(names: parameter.value))
        case "$top", "$skip", "$count", "$inlinecount", "since", "until", "__includedeleted": parameter
        default: HTTPHeader(parameter.name, mask(words: parameter.value))
        }
    }

    // MARK: Bodies

    /// The tables of the writes in one request.
    private func tables(of batch: Value?) -> [String] {
        guard case .array(let operations)? = batch?[member: "operations"] else { return [] }
        return operations.map { if case .string(let table)? = $0[member: "table"] { table } else { "" } }
    }

    private func mask(request body: Value, _ table: String) -> Value {
        guard table == "$batch", case .object(let members) = body else { return mask(row: body, table) }
        return .object(
            members.map { member in
                guard member.name == "operations", case .array(let operations) = member.value else {
                    return .init(member.name, mask(row: member.value, table))
                }
                return .init(member.name, .array(zip(operations, tables(of: body)).map { mask(operation: $0, $1) }))
            })
    }

    private func mask(operation: Value, _ table: String) -> Value {
        guard case .object(let members) = operation else { return mask(row: operation, table) }
        return .object(
            members.map { member in
                switch (member.name, member.value) {
                case ("operation", _), ("ifMatch", _), ("operationId", _): member
                case ("table", _): .init("table", .string(mask(table: table)))
                case ("id", .string(let id)): .init("id", .string(mask(id: id)))
                default: .init(member.name, mask(row: member.value, table))
                }
            })
    }

    private func mask(
        answer body: Value, _ table: String, _ batch: [String], _ dialect: ServerProtocol
    ) -> Value {
        switch body {
        case .array(let rows): return .array(rows.map { mask(row: $0, table) })
        case .object(let members) where body[member: "id"] == nil:
            return .object(
                members.map { member in
                    switch (member.name, member.value) {
                    case ("results", .array(let results)) where table == "$batch":
                        return .init(
                            "results",
                            .array(results.indices.map { mask(result: results[$0], $0 < batch.count ? batch[$0] : "") })
                        )
                    case ("results", .array(let rows)), ("items", .array(let rows)):
                        return .init(member.name, .array(rows.map { mask(row: $0, table) }))
                    case ("count", _), ("hasMore", _), ("cursor", _), ("end", _): return member
                    case ("nextLink", .string(let link)):
                        return .init("nextLink", .string(mask(link: link, table, dialect)))
                    case (_, .string(let words)): return .init(member.name, .string(mask(words: words)))
                    default: return .init(member.name, mask(member.value, Place(table, [member.name])))
                    }
                })
        default: return mask(row: body, table)
        }
    }

    private func mask(result: Value, _ table: String) -> Value {
        guard case .object(let members) = result else { return mask(row: result, table) }
        return .object(
            members.map { member in
                switch (member.name, member.value) {
                case ("status", _): member
                case (_, .string(let words)): .init(member.name, .string(mask(words: words)))
                default: .init(member.name, mask(row: member.value, table))
                }
            })
    }

    private func mask(row: Value, _ table: String) -> Value {
        guard case .object(let members) = row else { return mask(row, Place(table, ["\0"])) }
        // A row that left the view has a mark of the protocol, and no columns.
        let hasLeft = row[member: "left"] == .bool(true) && members.count == 3 && row[member: "version"] != nil
        return .object(
            members.map { member in
                if member.name == "id", case .string(let id) = member.value {
                    return .init("id", .string(mask(id: id)))
                }
                if hasLeft, member.name == "left" { return member }
                return .init(mask(column: member.name), mask(member.value, Place(table, [member.name])))
            })
    }

    /// A link to the next page; only its parameters are used.
    private func mask(link: String, _ table: String, _ dialect: ServerProtocol) -> String {
        let text = link.split(separator: "?", maxSplits: 1).last.map(String.init) ?? ""
        let parameters = HTTPRequest.parameters(text).map { mask(parameter: $0, table, dialect) }
        return "?"
            + parameters.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }.joined(
                separator: "&")
    }
}

extension HTTPRequest {
    /// The protocol of the recording.
    fileprivate var dialect: ServerProtocol {
        let version = headers.first { $0.isNamed(WireHeader.version) }?.value
        return version == ServerProtocol.datasync3.versionText ? .datasync3 : .zumo2
    }
}
