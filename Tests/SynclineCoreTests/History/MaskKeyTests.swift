// Masks with a key: they are those of SipHash-2-4, and agree between reports that have different values.

import LogTesting
import Testing

@testable import SynclineCore
@testable import SynclineReports

@Suite struct MaskKeyTests {
    private var key: MaskKey {
        get throws { try #require(MaskKey("000102030405060708090a0b0c0d0e0f")) }
    }

    /// From the function's description by Aumasson and Bernstein.
    @Test func `numbers are those of SipHash`() throws {
        let key = try key
        #expect(key.number(of: []) == 0x726f_db47_dd0e_0e31)
        #expect(key.number(of: [0]) == 0x74f8_39c5_93dc_67fd)
        #expect(key.number(of: Array(0..<15)) == 0xa129_ca61_49be_45e5)
        for text in ["", "00", String(repeating: "0", count: 34), String(repeating: "x", count: 32)] {
            #expect(MaskKey(text) == nil)
        }
    }

    @Test func `a permutation has each number once`() throws {
        let key = try key
        for limit: UInt64 in [1, 2, 3, 5, 64, 1000] {
            #expect(Set((0..<limit).map { key.permuted($0, below: limit) }) == Set(0..<limit))
        }
    }

    private func column(_ values: [Value], _ type: ColumnType, _ key: MaskKey) -> MaskedValues {
        var column = MaskedValues()
        for value in values { column.add(value) }
        column.close(as: type, key) { bytes in "b" + bytes.map { String($0, radix: 16) }.joined() }
        return column
    }

    @Test func `a renamed column has the masks of the server's name`() throws {
        var options = Masking.Options()
        options.key = try key
        func masked(_ steps: [(column: String, server: String, from: String?)], _ name: String) -> Row {
            let masking = Masking(options, ids: .exact) { _ in "" }
            let row = Row([.init(name, .string("oat milk"))])
            for step in steps {
                let table = TableSchema("t", columns: [ColumnSchema(step.column, onServer: step.server, default: nil)])
                let from = step.from.map { [SchemaStep.renameColumn(table: "t", from: $0, to: step.column)] } ?? []
                _ = masking.mask(
                    Event(time: 0, .declared(Declaration(version: 1, isStrict: false, tables: [table]), steps: from)))
            }
            _ = masking.mask(row, "t")
            masking.close()
            return masking.mask(row, "t")
        }
        let own = masked([], "text").members.map(\.value)
        #expect(masked([("title", "text", nil)], "title").members.map(\.value) == own)
        #expect(masked([("title", "text", nil), ("name", "text", "title")], "name").members.map(\.value) == own)
        #expect(masked([("other", "other", nil)], "title").members.map(\.value) != own)
    }

    @Test func `a number has one mask, whatever the types of its columns are`() throws {
        let key = try key
        let values: [Value] = [.integer(3), .double(3), .double(0.1), Value(number: "0.10") ?? .null, .integer(.max)]
        let columns = [ColumnType.any, .decimal, .number, .integer].map { column(values, $0, key) }
        for value in values {
            let masks = columns.map { $0.mask(value) }
            for mask in masks where value != .integer(.max) { #expect(Value.compare(mask, masks[0]) == .equal) }
        }
        #expect(Value.compare(columns[0].mask(values[2]), columns[1].mask(values[3])) == .equal)
    }

    @Test(arguments: [ColumnType.any, .uuid, .decimal, .decimalString, .number, .integer, .date, .string])
    func `columns with different values have the same masks for the same ones`(_ type: ColumnType) throws {
        var chance = Chance(seed: 5)
        let key = try key
        let days = (0..<400).map { Value.date(Timestamp(.init(seconds: (Int64($0) - 200) * 86_400), zone: .dateOnly)) }
        let shared: [Value] =
            (0..<60).map { _ in chance.value(depth: 0) } + days + [
                .string("1.50"), .string("oat milk"), .integer(3), .double(3), .double(3.5),
                .string("00000000-0000-0000-0000-0000000000Ab"), .date(Timestamp(.init(milliseconds: 1_234_567))),
            ]
        let columns = [0, 1].map { side in
            column(shared + (0..<50).map { .string("other \(side) \($0)") } + [.integer(Int64(side))], type, key)
        }
        for left in shared {
            #expect(columns[0].mask(left) == columns[1].mask(left), "\(left)")
            for right in shared where (left == right) != (columns[0].mask(left) == columns[0].mask(right)) {
                // Numbers that differ in their form only have one mask.
                #expect(Value.compare(left, right) == .equal, "\(left) \(right)")
            }
        }
        for case .date(let day) in days {
            guard case .date(let masked) = columns[0].mask(.date(day)) else { continue }
            #expect(masked.isWritable && masked.instant.seconds % 86_400 == 0)
        }
    }
}
