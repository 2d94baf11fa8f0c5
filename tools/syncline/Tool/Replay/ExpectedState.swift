// The expected result of a replay, as a file of lines that people can read and compare: rows, what is pending and in
// conflict, cursors, counts. Bytes of the state are not in it, so that it stays true from one release to the next.

import SynclineCore
import SynclineWire

enum ExpectedState {
    private static let version = 1

    /// The lines of a state, in order.
    static func lines(_ projector: Projector, _ body: (JSONValue) throws -> Void) throws {
        let reader = projector.present
        try body(["expected": .number(version), "through": .string("@\(projector.through)")])
        for table in try reader.tables() {
            for row in try reader.run(RowQuery(table: table)).rows {
                try body(["table": .string(table), "row": JSONValue(row)])
            }
        }
        for (index, operation) in try PushPlan(reader).operations.enumerated() {
            let fields = try PushPlan.fields(of: operation, reader)
            try body(["pending": OutboxJSON.json(operation, fields: fields, number: index + 1)])
        }
        for conflict in try reader.conflicts() { try body(["conflict": conflict.json()]) }
        for cursor in try reader.cursors() {
            try body([
                "cursor": [
                    "table": .string(cursor.table), "queryId": .string(cursor.queryID),
                    "position": .string(cursor.state.position), "query": .string(cursor.state.query),
                    "drain": .optional(drain(of: cursor.state.place)),
                ]
            ])
        }
        for row in try reader.unreadableRows() {
            try body([
                "unreadable": ["table": .string(row.table), "id": .optional(row.id), "reason": .string(row.reason)]
            ])
        }
        try body(["changes": projector.totals.json])
    }

    /// The id after which a moment that spans several pages continues.
    private static func drain(of place: CursorState.Place) -> String? {
        if case .time(_, let drain) = place { drain } else { nil }
    }

    static func write(_ projector: Projector, to path: String) throws -> Int {
        var draft = try FileDraft(path)
        var count = 0
        do {
            try lines(projector) { line in
                try draft.add(Array(line.text.utf8))
                count += 1
            }
            try draft.finish()
        } catch {
            draft.giveUp()
            throw error
        }
        return count
    }

    /// The first line that is not as expected.
    struct Difference {
        /// From 1.
        var line: Int
        /// Nil if the file has ended before.
        var expected: String?
        /// Nil if the state has nothing more.
        var found: String?

        var json: JSONValue {
            ["line": .number(line), "expected": .optional(expected), "found": .optional(found)]
        }
    }

    /// Compares a state with a file.
    static func compare(_ projector: Projector, with path: String) throws -> Difference? {
        let lines = try FileLines(path)
        var number = 0
        var difference: Difference?
        struct Found: Error {}
        do {
            try ExpectedState.lines(projector) { line in
                number += 1
                let expected = try lines.next().map { String(decoding: $0, as: UTF8.self) }
                if number == 1, expected?.hasPrefix(#"{"expected":\#(version),"#) != true { throw noSuchFile(path) }
                if !ExpectedState.isSame(expected, line.text) {
                    difference = Difference(line: number, expected: expected, found: line.text)
                    throw Found()
                }
            }
        } catch is Found {}
        if difference == nil, let more = try lines.next() {
            difference = Difference(line: number + 1, expected: String(decoding: more, as: UTF8.self), found: nil)
        }
        return difference
    }

    /// Whether two lines are the same, regardless of the order of the members of objects.
    private static func isSame(_ expected: String?, _ found: String) -> Bool {
        guard let expected else { return false }
        if expected == found { return true }
        guard let left = try? Value(json: expected.utf8), let right = try? Value(json: found.utf8) else { return false }
        return left.isSame(as: right)
    }

    /// A comparison in words.
    static func lines(_ difference: Difference?, _ file: String, _ style: TextStyle) -> [String] {
        guard let difference else { return [style.paint("the result is as expected in \(escaped(file))", .good)] }
        return [
            style.paint("! ", .bad) + "line \(difference.line) of \(escaped(file)) is not the result of the log",
            "  expected  " + escaped(difference.expected ?? "nothing more"),
            "  found     " + escaped(difference.found ?? "nothing more"),
        ]
    }

    private static func noSuchFile(_ path: String) -> ToolError {
        ToolError(
            "invalid-item", "\(escaped(path)) is not a file of expected results, or is of another version",
            hint: "`syncline replay --write-expected FILE` writes such a file.")
    }
}
