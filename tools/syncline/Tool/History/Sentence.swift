// A sentence in which events and times are known apart from the words, so that a page can show them as links and in its own
// time zone, and never takes a part of a value for one.

import SegmentLog

struct Sentence: ExpressibleByStringInterpolation, Sendable {
    enum Part: Sendable {
        case text(String)
        case event(UInt64)
        /// A moment, and how it is written.
        case time(WallTime, String)
    }

    private(set) var parts: [Part] = []

    init(stringLiteral text: String) { parts = [.text(text)] }
    init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ text: String) { parts.append(.text(text)) }
        mutating func appendInterpolation(_ value: some CustomStringConvertible) { parts.append(.text("\(value)")) }
        mutating func appendInterpolation(_ sentence: Sentence) { parts += sentence.parts }
        mutating func appendInterpolation(event: UInt64) { parts.append(.event(event)) }
        mutating func appendInterpolation(_ time: WallTime, as text: String) { parts.append(.time(time, text)) }
    }

    static func + (left: Sentence, right: Sentence) -> Sentence {
        var sum = left
        sum.parts += right.parts
        return sum
    }

    var text: String {
        parts.map { part in
            switch part {
            case .text(let text), .time(_, let text): text
            case .event(let number): "@\(number)"
            }
        }.joined()
    }

    /// Its parts: strings, `{"event":41}` and `{"time":…}` in milliseconds.
    var json: JSONValue {
        .array(
            parts.map { part in
                switch part {
                case .text(let text): .string(text)
                case .event(let number): ["event": .number(number)]
                case .time(let time, _): ["time": .number(time.rawValue)]
                }
            })
    }
}

extension [Sentence] {
    func joined(separator: Sentence) -> Sentence {
        dropFirst().reduce(first ?? "") { $0 + separator + $1 }
    }
}
