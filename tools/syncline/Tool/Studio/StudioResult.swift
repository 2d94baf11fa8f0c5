// The part of the result of a statement that the page shows, and how many rows there are.

import Syncline

struct StudioResult {
    private static let rowLimit = 200
    /// Values that the page shows at most, so that it stays light with many columns.
    private static let valueLimit = 4000
    /// Rows are counted up to this number.
    private static let countLimit = 100_000
    /// The length of a value, in characters.
    private static let lengthLimit = 1000
    private static let sizeLimit = 2 << 20

    private let columns: [String]
    private var rows: [JSONValue] = []
    private var count = 0
    private var size = 0
    private var isCounted = true
    private var isShortened = false

    init(columns: [String]) {
        self.columns = columns
    }

    /// Adds a row. Returns false if no more rows are wanted.
    mutating func add(_ values: [Value]) -> Bool {
        guard count < StudioResult.countLimit else {
            isCounted = false
            return false
        }
        count += 1
        let hasRoom = rows.count < StudioResult.rowLimit && size < StudioResult.sizeLimit
        if hasRoom, rows.isEmpty || (rows.count + 1) * values.count <= StudioResult.valueLimit {
            rows.append(.array(values.map { cell($0) }))
        }
        return true
    }

    private mutating func cell(_ value: Value) -> JSONValue {
        let shown: JSONValue =
            switch value {
            // A browser rounds larger integers.
            case .integer(let number) where number.magnitude > 1 << 53: .string("\(number)")
            case .number(let number): .string(number.spelling)
            case .string, .bytes, .date: .string(value.plainText)
            default: JSONValue(value)
            }
        guard case .string(let text) = shown else {
            size += 8
            return shown
        }
        let part = text.unicodeScalars.prefix(StudioResult.lengthLimit)
        size += part.count
        if part.endIndex == text.endIndex { return shown }
        isShortened = true
        return .string(String(part) + "…")
    }

    func json(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        let result: JSONValue = [
            "columns": .array(columns.map(JSONValue.string)), "rows": .array(rows), "count": .number(count),
            "counted": .boolean(isCounted), "shortened": .boolean(isShortened),
        ]
        return result.adding(members)
    }
}
