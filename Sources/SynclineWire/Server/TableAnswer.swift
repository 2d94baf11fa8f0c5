// A server's responses as HTTP of either protocol.

package import SynclineCore
import SynclineGround

package struct TableAnswer: Sendable {
    package let serverProtocol: ServerProtocol

    package init(_ serverProtocol: ServerProtocol) {
        self.serverProtocol = serverProtocol
    }

    /// Returns a response with one row, and its version in a strong tag.
    package func row(_ row: TableRow, status: Int = 200) -> HTTPResponse {
        var response = TableAnswer.json(status) { writer in
            if row.isBare { writer.write(members: [TableAnswer.omitted]) } else { writer.write(row, serverProtocol) }
        }
        response.headers.append(HTTPHeader("ETag", EntityTag.text(of: row.version)))
        return response
    }

    /// Returns a response with a row whose values its client may not read: only its id and its version.
    package static func hidden(
        _ row: TableRow, status: Int, _ error: (message: String, code: String)? = nil
    ) -> HTTPResponse {
        var members = [Value.Member("id", .string(row.id)), .init("version", .string(row.version)), hidden]
        if let error { members += [.init("error", .string(error.message)), .init("code", .string(error.code))] }
        var response = json(status) { $0.write(members: members) }
        response.headers.append(HTTPHeader("ETag", EntityTag.text(of: row.version)))
        response.code = error?.code
        return response
    }

    /// Marks a row whose values the client may not read.
    static let hidden = Value.Member("readable", .bool(false))

    /// Marks a row that was left out of the response.
    static let omitted = Value.Member("rowOmitted", .bool(true))

    /// Returns a client's own item.
    package func echo(_ item: [Value.Member], status: Int) -> HTTPResponse {
        TableAnswer.json(status) { $0.write(members: item) }
    }

    /// Returns a page of as many rows as the size limit allows, at least one. `next` is given their number and
    /// returns the parameter for the newer protocol's next page, if there is one.
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

    /// Writes the rows that fit, and returns their number.
    private func write(_ rows: [TableRow], _ select: [String]?, _ limit: Int, _ writer: inout JSONWriter) -> Int {
        writer.raw("[")
        let names = select.map(\.exact)
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

    /// Returns an error in the protocol's form; the newer one has no body for what the status already says.
    package func error(_ status: Int, _ message: String) -> HTTPResponse {
        if serverProtocol == .datasync3, [401, 403, 404, 405, 410].contains(status) {
            return HTTPResponse(status: status)
        }
        let text = Value.string(message)
        return TableAnswer.json(status) { $0.write(serverProtocol == .zumo2 ? .object([.init("error", text)]) : text) }
    }

    /// Returns an error with a code for programs, the same in both protocols.
    package static func refusal(_ status: Int, _ message: String, code: String) -> HTTPResponse {
        var response = json(status) {
            $0.write(members: [Value.Member("error", .string(message)), Value.Member("code", .string(code))])
        }
        response.code = code
        return response
    }

    package static func json(_ status: Int, _ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter(capacity: 512)
        write(&writer)
        return json(status, writer.bytes)
    }

    /// Returns a response with a JSON body.
    package static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.headers = [HTTPHeader("Content-Type", "application/json; charset=utf-8")]
        response.body = body
        return response
    }
}

extension HTTPRequest {
    /// Returns the URL parameters of the next page: the same except the window. A page begins after a number of
    /// rows, or after the last row of the previous one.
    package func nextPage(skip: Int, top: Int?, after: String? = nil) -> String {
        var next = HTTPRequest(method, "")
        next.query = query.filter { !$0.isNamed("$skip") && !$0.isNamed("$top") && !$0.isNamed("$after") }
        next.query.append(after.map { HTTPHeader("$after", $0) } ?? HTTPHeader("$skip", String(skip)))
        if let top { next.query.append(HTTPHeader("$top", String(top))) }
        return String(next.target(below: "").dropFirst())
    }
}
