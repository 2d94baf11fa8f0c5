// Converts a server's response to the machines' types. Anything unreadable becomes content of its own, with the
// reason and the position; a machine decides what to do about it.

package import SynclineCore

extension WireCodec {
    /// Returns the content of a response.
    package func reply(_ response: HTTPResponse, to request: ServerRequest) -> ServerReply {
        var reply = ServerReply(status: response.status, content: .unreadable("the response is empty"))
        reply.etag = response.headers.value("ETag").flatMap(EntityTag.version)
        reply.date = response.headers.value("Date").flatMap(HTTPDate.instant)
        reply.retryAfter = response.headers.value("Retry-After").flatMap(WireCodec.retryAfter)?.counted(
            from: reply.date)
        reply.capabilities = ServerCapabilities(words: response.headers.value(WireHeader.capabilities) ?? "")
        let isGood = (200...299).contains(response.status)
        if let refusal = response.refusal {
            reply.isTooLarge = true
            reply.content = request.isAboutOneRow ? .unreadableRow(id: nil, refusal) : .unreadable(refusal)
        } else if !response.body.isEmpty {
            do throws(JSONError) {
                reply.content = try WireCodec.content(response.body, request, reply.etag, isGood)
            } catch {
                reply.content = .unreadable(error.description)
            }
        }
        if case .list(var list) = reply.content, list.next == nil, let link = response.headers.value("Link") {
            list.next = NextLink.parameters(header: link)
            reply.content = .list(list)
        }
        if case .results(let results) = reply.content {
            // What is true of the request is true of each of its writes.
            reply.content = .results(
                results.map { result in
                    var result = result
                    (result.date, result.retryAfter) = (reply.date, reply.retryAfter)
                    result.capabilities = reply.capabilities
                    return result
                })
        }
        if !isGood, reply.content.isUnreadable { reply.message = ErrorText.message(response.body) }
        return reply
    }

    private static func retryAfter(_ text: String) -> ServerReply.RetryAfter? {
        let text = text.trimmed
        if !text.isEmpty, text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            // A number that overflows is longer than any accepted wait.
            let (milliseconds, overflow) = (Int64(text) ?? .max).multipliedReportingOverflow(by: 1000)
            return .milliseconds(overflow ? .max : milliseconds)
        }
        return HTTPDate.instant(text).map { .moment($0) }
    }

    private static func content(
        _ body: [UInt8], _ request: ServerRequest, _ etag: String?, _ isGood: Bool
    ) throws(JSONError) -> ServerReply.Content {
        try body.withScanner { scanner throws(JSONError) in
            switch request {
            case .list, .changes, .batch:
                guard isGood else { return .unreadable("the status is not a success") }
                switch request {
                case .changes: return .changes(try RowListReader.changes(&scanner))
                case .batch: return .results(try RowListReader.results(&scanner))
                default: return .list(try RowListReader.list(&scanner))
                }
            case .write, .row: break
            }
            var content = try RowListReader.content(&scanner)
            try scanner.finish()
            if case .row(var row) = content {
                if let etag { row.columns = row.columns.setting("version", .string(etag)) }
                content = .row(row.markedIfHidden)
            }
            return content
        }
    }
}

extension ServerRow {
    /// Recognizes a row whose values the client may not read. A row that it may read also has its times, whatever its
    /// columns are called.
    fileprivate var markedIfHidden: ServerRow {
        guard moment == nil, columns["readable"] == .bool(false), let version = columns.version else { return self }
        return .hidden(id, version: version, isDeleted: columns["code"] == .string("row-deleted"))
    }
}

extension ServerReply.Content {
    fileprivate var isUnreadable: Bool {
        switch self {
        case .unreadable, .unreadableRow: true
        case .row, .list, .changes, .results: false
        }
    }
}

extension ServerRequest {
    fileprivate var isAboutOneRow: Bool {
        switch self {
        case .write, .row: true
        case .list, .changes, .batch: false
        }
    }
}

extension ServerCapabilities {
    private static let known: [(capability: ServerCapabilities, word: String)] = [
        (.changes, "changes"), (.batch, "batch"), (.events, "events"), (.operations, "operation-ids"),
        (.access, "access"),
    ]

    /// The capabilities as the header's words.
    package var words: String {
        ServerCapabilities.known.filter { contains($0.capability) }.map(\.word).joined(separator: ", ")
    }

    /// Reads the known words of a header.
    package init(words: String) {
        let words = words.split(separator: ",").map { $0.trimmed.lowercased() }
        self.init(ServerCapabilities.known.filter { words.contains($0.word) }.map(\.capability))
    }
}

extension Row {
    fileprivate func setting(_ name: String, _ value: Value) -> Row {
        if self[name] == value { return self }
        var builder = RowBuilder(self)
        builder.set(name, value)
        return builder.row
    }
}
