// What values an index has, and the parts of it that have the values of a range in SQL.

import SynclineCore
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite struct IndexContentTests {
    private static let day = Timestamp(.init(seconds: 1_767_225_600))
    private static let finer = Timestamp(.init(seconds: 1_767_225_600, nanoseconds: 1), decimals: 9)

    private func index(_ values: [Value]) async throws -> (reader: StateReader, index: TableIndex) {
        let database = try await SyncDatabase.open(MemoryStorage(), SyncConfiguration())
        try await database.declareIndex(table: "t", columns: ["a", "b"])
        let rows = values.enumerated().map { place, value in
            PulledRow(
                id: "r\(place)", row: Row([.init("a", value), .init("b", value), .init("version", .string("v"))]))
        }
        try await database.pull(PulledPage(table: "t", queryID: "all", rows: rows, cursor: nil))
        let reader = try database.present.reader
        return (reader, try #require(try reader.indexes(of: "t").first))
    }

    private static let long = Value.string(String(repeating: "x", count: 65))

    @Test(
        arguments: [
            ([.null], [], []), ([1, 0.5, .null], .number, .number), ([true, false], .bool, .bool),
            ([.date(day)], .date, [.date, .fineDate]), ([.date(finer)], [.date, .fineDate], [.date, .fineDate]),
            (["a", ""], .string, [.string, .cut]),
            (["5", "a"], [.string, .numericString], [.string, .cut, .numericString]),
            // A string that only begins like a number.
            (["5x"], .string, [.string, .cut, .numericString]),
            ([long], [.string, .cut, .numericString], [.string, .cut]), ([.bytes([1])], .bytes, [.bytes, .cut]),
            ([.array([]), .object([])], .structure, .structure),
        ] as [([Value], IndexContent, IndexContent)])
    func `entries say what values there are, and searches what there may be`(
        values: [Value], content: IndexContent, first: IndexContent
    ) async throws {
        let (reader, index) = try await index(values)
        let found = try reader.contents("t", index, isNumber: { NumericForm($0) != .none }, while: { true })
        #expect(found == [content, content])
        #expect(try reader.contentOfFirstColumn("t", index) == first)
    }

    @Test func `entries are read until they are not wanted`() async throws {
        let (reader, index) = try await index((0..<4096).map { .integer($0) })
        #expect(try reader.contents("t", index, isNumber: { _ in false }, while: { false }) == nil)
        #expect(try reader.contents("t", index, isNumber: { _ in false }, while: { true }) == [.number, .number])
    }

    @Test func `the parts of an index have the values of a range, in both directions`() async throws {
        let values: [Value] = [
            .null, true, false, 1, 5, 7.5, .date(Self.day), "", "5", "m", "z", .bytes([1]), .array([]),
        ]
        let (reader, index) = try await index(values)
        func found(_ range: ColumnRange, isBackward: Bool = false) throws -> [Value] {
            let intervals = range.intervals(.unknown)
            let cursor = try IndexCursor(
                reader, table: "t", index, index.ranges("t", [intervals]), isBackward: isBackward)
            let finder = try RowLookup(reader, table: "t")
            var found: [Value] = []
            while let id = cursor.id {
                found.append(try finder.row(formAndID: id)?.value(ofColumn: "a") ?? .null)
                try cursor.advance()
            }
            return found
        }
        let five = Operand.number(.integer(5))
        for (range, wanted) in [
            (
                ColumnRange(lower: five, upper: nil),
                [5, 7.5, .date(Self.day), "", "5", "m", "z", .bytes([1]), .array([])]
            ),
            (ColumnRange(lower: nil, upper: five), [false, true, 1, 5, "5"]),
            // An object begins with a greater character, and the index does not tell it from an array.
            (ColumnRange(lower: .text("n"), upper: nil), ["z", .bytes([1]), .array([])]),
            (ColumnRange(lower: .text("2026-01-01"), upper: .text("3")), [.date(Self.day)]),
            (ColumnRange(lower: .text("2026-01-02"), upper: .text("3")), []),
            (ColumnRange(equalTo: .number(.integer(1))), [true, 1, "5"]), (ColumnRange(equalTo: .text("m")), ["m"]),
            (ColumnRange(equalTo: .text("2026-01-01T00:00:00.000Z")), [.date(Self.day)]),
            (ColumnRange(equalTo: .text("[]")), [.array([])]), (ColumnRange(equalTo: .blob), [.bytes([1])]),
            (ColumnRange(equalTo: .null), []), (ColumnRange(lower: .null, upper: nil), []),
            (ColumnRange(equalTo: .brokenText), []),
        ] as [(ColumnRange, [Value])] {
            #expect(try found(range) == wanted, "\(range)")
            #expect(try found(range, isBackward: true) == wanted.reversed(), "\(range)")
        }
    }
}
