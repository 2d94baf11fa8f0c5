// Reads lines of the log again: those of requests in either form. Others are no access lines.

import SynclineCore
import SynclineWire

extension AccessLine {
    /// Nil for any other line.
    init?(_ line: String) {
        guard let read = line.first == "{" ? AccessLine(json: line) : AccessLine(text: line) else { return nil }
        self = read
    }

    private init?(json line: String) {
        guard let value = try? Value(json: line.utf8) else { return nil }
        func text(_ name: String) -> String? {
            if case .string(let text)? = value[member: name] { text } else { nil }
        }
        func number(_ name: String) -> Int64? {
            if case .integer(let number)? = value[member: name] { number } else { nil }
        }
        guard let time = text("time").flatMap({ Timestamp($0) }), let id = text("id"), let client = text("client"),
            let method = text("method"), let path = text("path"), let status = number("status"),
            let bytesIn = number("bytesIn"), let bytesOut = number("bytesOut"),
            let microseconds = number("microseconds")
        else { return nil }
        self.init(
            time: time.instant.milliseconds, id: id, client: client, user: text("user"), method: method, path: path,
            status: Int(status), code: text("code"), bytesIn: Int(bytesIn), bytesOut: Int(bytesOut),
            microseconds: microseconds, tenant: text("tenant"))
    }

    private init?(text line: String) {
        var rest = line.utf8[...]
        /// The next word; one in quotes is a string of JSON.
        func word() -> String? {
            let isQuoted = rest.first == UInt8(ascii: "\"")
            var end = rest.startIndex
            var isEscaped = false
            while end < rest.endIndex {
                let byte = rest[end]
                if isQuoted {
                    if end > rest.startIndex, byte == UInt8(ascii: "\""), !isEscaped { break }
                    isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                } else if byte == UInt8(ascii: " ") {
                    break
                }
                end = rest.index(after: end)
            }
            if isQuoted, end < rest.endIndex { end = rest.index(after: end) }
            let word = rest[..<end]
            rest = rest[end...].dropFirst()
            if !isQuoted { return String(word) }
            if case .string(let text)? = try? Value(json: word) { return text }
            return nil
        }
        func number(_ unit: String) -> Int64? {
            guard let word = word(), word.hasSuffix(unit) else { return nil }
            return Int64(word.dropLast(unit.count))
        }
        guard let time = word().flatMap({ Timestamp($0) }), let client = word(), let user = word(),
            let method = word(), let path = word(), let status = number(""), let code = word(),
            let bytesIn = number("B"), let bytesOut = number("B"), let microseconds = number("µs"), let id = word(),
            !id.isEmpty
        else { return nil }
        let tenant = rest.isEmpty ? nil : word()
        guard rest.isEmpty else { return nil }
        self.init(
            time: time.instant.milliseconds, id: id, client: client, user: user == "-" ? nil : user, method: method,
            path: path, status: Int(status), code: code == "-" ? nil : code, bytesIn: Int(bytesIn),
            bytesOut: Int(bytesOut), microseconds: microseconds, tenant: tenant)
    }
}
