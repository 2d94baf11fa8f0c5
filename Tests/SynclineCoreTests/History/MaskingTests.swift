// What masking guarantees: the type of a value, and equality and order within its column; and that a masked store is
// the fold of its masked events.

import LogTesting
import Testing

@testable import SynclineCore
@testable import SynclineReports

@Suite struct MaskingTests {
    private func masking(_ options: Masking.Options = .init()) -> Masking {
        Masking(options, ids: .exact) { String(decoding: $0.map { 0x61 + $0 % 26 }, as: UTF8.self) }
    }

    private func column(_ values: [Value], _ type: ColumnType = .any) -> MaskedValues {
        var column = MaskedValues()
        for value in values { column.add(value) }
        // No other string looks like this.
        column.close(as: type) { bytes in "bytes " + bytes.map { String($0, radix: 16) }.joined(separator: "-") }
        return column
    }

    private func kind(_ value: Value) -> Int {
        switch value {
        case .null: 0
        case .bool: 1
        case .integer: 2
        case .double, .number: 3
        case .string(let text): Timestamp(text) == nil ? 4 : 5
        case .date: 6
        case .bytes: 7
        case .array: 8
        case .object: 9
        }
    }

    @Test func `masks have the order and the types of their values`() {
        var chance = Chance(seed: 7)
        for seed in 0..<60 {
            var values: [Value] = (0..<60).map { _ in chance.value(depth: 3) }
            values += [.integer(3), .double(3), .double(3.5), .integer(-3), .double(-0.0), .integer(0), .string("")]
            values += (0..<20).map { _ in .string(String(chance.below(40))) }
            values += (0..<20).map { _ in .date(Timestamp(.init(milliseconds: Int64(chance.below(9)) * 1000))) }
            values += values.compactMap { value in
                if case .date(let date) = value { .string(date.description) } else { nil }
            }
            values = values.filter { ![8, 9].contains(kind($0)) }
            let column = column(values)
            for left in values {
                #expect(kind(column.mask(left)) == kind(left), "\(left) in \(seed)")
                for right in values {
                    // A date string is ranked among dates.
                    if Set([kind(left), kind(right)]) == [4, 5] { continue }
                    let (before, after) = (
                        Value.compare(left, right), Value.compare(column.mask(left), column.mask(right))
                    )
                    if kind(left) == 5, kind(right) == 5 {
                        #expect((before == .equal) == (after == .equal), "\(left) \(right)")
                    } else {
                        #expect(before == after, "\(left) \(right): \(column.mask(left)) \(column.mask(right))")
                    }
                }
            }
        }
    }

    @Test(arguments: [ColumnType.uuid, .decimal, .decimalString, .number, .integer])
    func `masks of a typed column mean the same to each other as their values`(_ type: ColumnType) {
        var chance = Chance(seed: 11)
        let pairs = ["0c", "aB", "99", "Ff"]
        let values: [Value] = (0..<60).map { _ in
            if type.isUUID {
                let text = "00000000-0000-0000-0000-0000000000" + chance.pick(pairs)
                return .string(chance.pick([text, text.uppercased(), text.lowercased()]))
            }
            let whole = chance.below(4)
            return chance.pick([
                .integer(Int64(whole)), .double(Double(whole)), .string("\(whole).0"), .string("0\(whole)"),
                Value(number: "\(whole).00") ?? .null, Value(number: "\(whole)e0") ?? .null,
            ])
        }
        let column = column(values, type)
        for left in values {
            for right in values {
                let masks = (column.mask(left), column.mask(right))
                #expect((left == right) == (masks.0 == masks.1), "\(left) \(right) \(masks)")
                #expect(type.areSame(left, right) == type.areSame(masks.0, masks.1), "\(left) \(right) \(masks)")
                let meanings = (Meaning(left, as: type), Meaning(right, as: type))
                guard meanings.0.fits, meanings.1.fits else { continue }
                let after = Meaning.compare(Meaning(masks.0, as: type), Meaning(masks.1, as: type))
                #expect(Meaning.compare(meanings.0, meanings.1) == after, "\(left) \(right) \(masks)")
            }
        }
    }

    @Test func `a mask contains no part of its value`() {
        let column = column([.string("Oat milk 3"), .integer(471_100), .double(0.5), .bytes([1, 2, 3])])
        #expect(column.mask(.string("Oat milk 3")) == .string("b"))
        #expect(column.mask(.integer(471_100)) == .integer(2) && column.mask(.double(0.5)) == .double(1.5))
        #expect(column.mask(.bytes([1, 2, 3])) == .bytes([0, 0, 0, 0, 0, 0, 0, 1]))
        #expect(column.mask(.string("never seen")) == .string("unknown"))
    }

    @Test func `a filter matches masked rows as it matched the original ones`() throws {
        var chance = Chance(seed: 3)
        let masking = masking()
        let rows = (0..<50).map { number in
            Row([
                .init("id", .string("r\(number)")), .init("text", .string("v\(chance.below(9))")),
                .init("n", .integer(Int64(chance.below(9)) - 4)),
                .init("d", .date(Timestamp(.init(milliseconds: Int64(chance.below(9)) * 1_000_000)))),
                .init("a", .object([.init("city", .string("c\(chance.below(4))"))])),
            ])
        }
        let filters = try [
            "text eq 'v3' and n gt -2", "n le 2.5 or text gt 'v4'",
            "d ge cast(1970-01-01T01:00:00Z,Edm.DateTimeOffset)",
            "a/city eq 'c1'", "a/city ne 'c1' and not (n eq -4)", "text in ('v1','v2') and text ne null", "3 lt n",
            "d lt datetime'1970-01-01T00:50:00'", "-1 eq n",
        ].map { try FilterExpression(parsing: $0) }
        func visit() -> (rows: [Row], filters: [FilterExpression]) {
            (rows.map { masking.mask($0, "t") }, filters.map { masking.mask($0, "t") })
        }
        _ = visit()
        masking.close()
        let masked = visit()
        for (filter, other) in zip(filters, masked.filters) {
            #expect(rows.map { filter.matches($0) } == masked.rows.map { other.matches($0) }, "\(filter)")
            for dialect in ServerProtocol.allCases {
                let text = try other.text(for: dialect)
                #expect(!text.contains("city") && !text.contains("v1") && !text.contains("50"))
                #expect(try FilterExpression(parsing: text).text(for: dialect) == text)
            }
        }
        #expect(masking.mask(filter: "this is not a filter", "t", for: .zumo2) == Masking.words)
    }

    @Test func `columns with two names have the same masks, and others their own`() {
        let masking = masking()
        func visit() -> [Value] {
            [("t", "a"), ("t", "b"), ("t", "c"), ("u", "a")].map {
                masking.mask(.string("x"), .init($0.0, [$0.1]))
            } + [masking.mask(.string("w"), .init("t", ["b"])), masking.mask(.string("y"), .init("u", ["a"]))]
        }
        masking.join("t", "a", "b")
        _ = visit()
        masking.close()
        let masked = visit()
        #expect(masked[0] == masked[1] && masked[0] != masked[2] && masked[3] == .string("b"))
    }

    @Test func `a table that stays on the device does so in a masked state`() throws {
        let projector = try Projector()
        let tables = [("notes", []), ("drafts", [TypedColumn("n", .date)])]
        for (number, (table, columns)) in tables.enumerated() {
            let declaration = TypeDeclaration(table: table, columns: columns, isLocal: true)
            try projector.apply(Event(time: 0, .typed(declaration)), number: UInt64(number + 1))
        }
        projector.store.endCommit()
        let masking = masking()
        _ = try masking.mask(projector)
        masking.close()
        #expect(try masking.mask(projector).state.types == projector.state.types)
    }
}
