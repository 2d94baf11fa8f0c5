// A server's answers as the HTTP of either protocol.

package import SynclineCore

package struct TableAnswer: Sendable {
    package let serverProtocol: ServerProtocol

    package init(_ serverProtocol: ServerProtocol) {
        self.serverProtocol = serverProtocol
    }

    /// One row, with its version in a strong tag.
    package func row(_ row: TableRow, status: Int = 200) -> HTTPResponse {
        var response = TableAnswer.json(status) { writer in
            if row.isBare { writer.write(members: [TableAnswer.omitted]) } else { writer.write(row, serverProtocol) }
        }
        response.headers.append(HTTPHeader("ETag", EntityTag.text(of: row.version)))
        return response
    }

    /// Says that there is a row, and that the answer is not the place for it.
    static let omitted = Value.Member("rowOmitted", .bool(true))

    /// A client's own item, sent back.
    package func echo(_ item: [Value.Member], status: Int) -> HTTPResponse {
        TableAnswer.json(status) { $0.write(members: item) }
    }

    /// A page of as many rows as the limit on its bytes allows, one at least. `next` is told how many these are, and says
    /// what the newer protocol asks for the next page with, if there is one.
    package func list(
        _ rows: [TableRow], select: [String]?, count: Int?, limit: Int = .max, next: (Int) -> String?
    ) -> HTTPResponse {
        TableAnswer.json(200) { writer in
            switch serverProtocol {
            case .zumo2:
                if count != nil { writer.raw("{\"results\":") }
                _ = next(write(rows, select, limit, &writer))
                if let count { writer.raw(",\"count\":\(count)}") }
            case .datasync3:
                writer.raw("{\"items\":")
                let told = write(rows, select, limit, &writer)
                writer.raw(",\"count\":\(count.map(String.init) ?? "null"),\"nextLink\":")
                writer.write(next(told).map { .string($0) } ?? .null)
                writer.raw("}")
            }
        }
    }

    /// A page of all rows.
    package func list(_ rows: [TableRow], select: [String]?, count: Int?, next: String?) -> HTTPResponse {
        list(rows, select: select, count: count) { _ in next }
    }

    /// How many of the rows have room.
    private func write(_ rows: [TableRow], _ select: [String]?, _ limit: Int, _ writer: inout JSONWriter) -> Int {
        writer.raw("[")
        let names = select.map { Set($0) }
        var told = 0
        for row in rows {
            let before = writer.count
            if told > 0 { writer.raw(",") }
            writer.write(row, serverProtocol, selecting: names)
            if told > 0, writer.count > limit {
                writer.truncate(to: before)
                break
            }
            told += 1
        }
        writer.raw("]")
        return told
    }

    /// An error in the protocol's words; the newer one has none for what the status says alone.
    package func error(_ status: Int, _ message: String) -> HTTPResponse {
        if serverProtocol == .datasync3, [401, 403, 404, 405, 410].contains(status) { return empty(status) }
        let text = Value.string(message)
        return TableAnswer.json(status) { $0.write(serverProtocol == .zumo2 ? .object([.init("error", text)]) : text) }
    }

    package func error(_ error: TableRequestError) -> HTTPResponse {
        self.error(error.status, error.message)
    }

    /// An error that names itself for programs too, the same in both protocols.
    package static func refusal(_ status: Int, _ message: String, code: String) -> HTTPResponse {
        var response = json(status) {
            $0.write(members: [Value.Member("error", .string(message)), Value.Member("code", .string(code))])
        }
        response.code = code
        return response
    }

    /// An answer without a body.
    package func empty(_ status: Int) -> HTTPResponse {
        HTTPResponse(status: status)
    }

    package static func json(_ status: Int, _ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter(capacity: 512)
        write(&writer)
        return json(status, writer.bytes)
    }

    /// An answer with a text of JSON.
    package static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.headers = [HTTPHeader("Content-Type", "application/json; charset=utf-8")]
        response.body = body
        return response
    }
}

extension HTTPRequest {
    /// The parameters of the page behind this one, as a URL has them: the same but for the window. A page begins behind so
    /// many rows, or behind the row that another one ended with.
    package func nextPage(skip: Int, top: Int?, after: String? = nil) -> String {
        var next = HTTPRequest(method, "")
        next.query = query.filter { !$0.isNamed("$skip") && !$0.isNamed("$top") && !$0.isNamed("$after") }
        next.query.append(after.map { HTTPHeader("$after", $0) } ?? HTTPHeader("$skip", String(skip)))
        if let top { next.query.append(HTTPHeader("$top", String(top))) }
        return String(next.target(below: "").dropFirst())
    }
}
