// The rows of a load: their ids, which no other row has, and which of them the server has.

import SynclineCore
import SynclineGround

struct LoadRows: Sendable {
    /// The beginning of every id.
    let prefix: String
    private let item: [Value.Member]
    private(set) var (taken, operations) = (0, 0)
    /// The server has these.
    private(set) var made: [Int] = []
    /// The server may have these: no answer said so.
    private(set) var unclear: [Int] = []

    init(_ item: [Value.Member], _ chance: (high: UInt64, low: UInt64)) {
        let digits = Hexadecimal.text(chance.high, digits: 16) + Hexadecimal.text(chance.low & 0xff_ffff, digits: 6)
        func part(_ range: Range<Int>) -> Substring { digits.dropFirst(range.lowerBound).prefix(range.count) }
        // Tables with rules take only UUIDs. Version 8 is for other ids than time and chance make.
        prefix = "\(part(0..<8))-\(part(8..<12))-8\(part(12..<15))-8\(part(15..<18))-"
        self.item = item
    }

    /// Numbers for new rows.
    mutating func take(_ count: Int) -> Range<Int> {
        taken += count
        return taken - count..<taken
    }

    func id(_ number: Int) -> String { prefix + Hexadecimal.text(number, digits: 12) }

    /// The writes of a request.
    mutating func writes(_ kind: OperationKind, _ numbers: some Collection<Int>, of table: String) -> [WriteRequest] {
        numbers.map { number in
            operations += 1
            let text = "\(operations)"
            let members = item.map { Value.Member($0.name, $0.value.replacing("{n}", by: text)) }
            return WriteRequest(
                kind: kind, table: table, id: id(number), body: kind == .delete ? .empty : Row(members), version: nil,
                operationID: prefix + text)
        }
    }

    /// Records the outcome of inserts; returns whether the server has all of the rows.
    mutating func inserted(_ numbers: Range<Int>, _ answers: [LoadAnswer]) -> Bool {
        var hasAll = true
        for (number, answer) in zip(numbers, answers) {
            if case .failure(let failure) = answer {
                hasAll = false
                if failure.isUnclear { unclear.append(number) }
            } else {
                made.append(number)
            }
        }
        return hasAll
    }
}

extension Value {
    fileprivate func replacing(_ mark: String, by text: String) -> Value {
        switch self {
        case .string(let string): .string(string.replacing(mark, with: text))
        case .array(let elements): .array(elements.map { $0.replacing(mark, by: text) })
        case .object(let members): .object(members.map { .init($0.name, $0.value.replacing(mark, by: text)) })
        default: self
        }
    }
}
