// The text of an answer, cut to a size on the boundary of a line. Pure.

struct AnswerText {
    /// What is kept if there is more than fits.
    enum Kept {
        case first
        case last
        /// The first lines, and more of the last ones.
        case ends
    }

    /// Warnings, which come first.
    var notes: [String] = []
    var lines: [String]
    var kept = Kept.first
    /// Whether lines are missing after these already.
    var isCut = false
    /// How the rest can be seen.
    var rest: String
    /// The last line.
    var next: String

    /// The largest answer in bytes.
    static let limit = 2048
    /// The longest line in bytes.
    static let lineLimit = 960

    var text: String {
        let head = notes.prefix(3).map { Self.cut($0, to: 240) }
        let end = Self.cut(next, to: 400)
        let room = Self.limit - Self.size(head) - end.utf8.count
        let body = lines.map { Self.cut($0, to: min(Self.lineLimit, room - 250)) }
        if !isCut, Self.size(body) <= room { return (head + body + [end]).joined(separator: "\n") }
        let notice = Self.cut("… \(body.count) more lines left out: \(rest)", to: 240)
        let (first, last) = Self.split(body, room - notice.utf8.count - 1, kept)
        let left = body.count - first.count - last.count
        let count = isCut ? "more" : left == 1 ? "1 line" : "\(left) lines"
        let told = Self.cut("… \(count) left out: \(rest)", to: 240)
        return (head + first + [told] + last + [end]).joined(separator: "\n")
    }

    /// The lines that fit.
    private static func split(
        _ lines: [String], _ room: Int, _ kept: Kept
    ) -> (first: ArraySlice<String>, last: ArraySlice<String>) {
        func fit(_ lines: some Sequence<String>, _ room: Int) -> Int {
            var left = room
            return lines.prefix { line in
                left -= line.utf8.count + 1
                return left >= 0
            }.count
        }
        switch kept {
        case .first: return (lines.prefix(fit(lines, room)), [])
        case .last: return ([], lines.suffix(fit(lines.reversed(), room)))
        case .ends:
            let first = lines.prefix(fit(lines, room / 3))
            let rest = lines[first.count...]
            return (first, rest.suffix(fit(rest.reversed(), room - size(Array(first)))))
        }
    }

    /// The size of lines with their ends.
    private static func size(_ lines: [String]) -> Int { lines.reduce(0) { $0 + $1.utf8.count + 1 } }

    /// A line of at most some bytes, cut between two characters.
    static func cut(_ line: String, to limit: Int) -> String {
        if line.utf8.count <= limit { return line }
        let mark = "… (\(line.utf8.count) bytes)"
        var text = ""
        var size = mark.utf8.count
        for scalar in line.unicodeScalars {
            size += scalar.utf8.count
            if size > limit { break }
            text.unicodeScalars.append(scalar)
        }
        return text + mark
    }
}

extension JSONValue {
    /// The value with long strings and lists cut.
    var shortened: JSONValue {
        switch self {
        case .string(let text): .string(AnswerText.cut(text, to: 120))
        case .numeral(let text): text.utf8.count <= 120 ? self : .string(AnswerText.cut(text, to: 120))
        case .array(let elements):
            .array(
                elements.prefix(8).map(\.shortened)
                    + (elements.count > 8 ? [.string("… \(elements.count - 8) more")] : []))
        case .object(let members): .object(members.map { Member(key: $0.key, value: $0.value.shortened) })
        default: self
        }
    }

    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == name }?.value
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }

    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    /// A number that is more than zero.
    var isPositive: Bool { if case .numeral(let text) = self { Int(text) ?? 0 > 0 } else { false } }
}
