// Rows in bytes: columns come back in their order, damage is never a trap.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct RowTests {
    @Test func `a row gives back its columns in the order they were set`() {
        for seed in UInt64(1)...5000 {
            var chance = Chance(seed: seed)
            var names: [String] = []
            var values: [ExactString: Value] = [:]
            var builder = RowBuilder()
            for _ in 0..<chance.below(10) {
                let name = chance.text()
                let value = chance.value()
                if values.updateValue(value, forKey: ExactString(name)) == nil { names.append(name) }
                builder.set(name, value)
            }
            let row = builder.row
            #expect(row.columns == names, "seed \(seed)")
            #expect(row.members == names.map { .init($0, values[$0] ?? .null) }, "seed \(seed)")
            for name in names { #expect(row[name] == values[name], "seed \(seed)") }
            #expect(row["no such column"] == nil)
            #expect(Row(row.members) == row, "seed \(seed)")
        }
    }

    @Test func `columns laid over a row win and keep its order`() {
        let base = Row([.init("a", .integer(1)), .init("b", .integer(2)), .init("c", .null)])
        let over = Row([.init("d", .bool(true)), .init("b", .string("x"))])
        let merged = base.merged(with: over)
        #expect(merged.columns == ["a", "b", "c", "d"])
        #expect(merged["b"] == .string("x"))
        #expect(base.merged(with: .empty) == base)
        #expect(Row.empty.merged(with: over) == over)
    }

    @Test func `columns of a damaged row read as some value or null`() {
        for seed in UInt64(1)...3000 {
            var chance = Chance(seed: seed)
            let row = chance.row()
            guard !row.bytes.isEmpty else { continue }
            var bytes = row.bytes
            bytes[chance.below(bytes.count)] = UInt8(truncatingIfNeeded: chance.next())
            let damaged = Row(shape: row.shape, bytes: Array(bytes[..<chance.below(bytes.count + 1)]))
            #expect(damaged.members.count == row.columns.count, "seed \(seed)")
            for name in row.columns { #expect(damaged[name] != nil, "seed \(seed)") }
        }
    }
}
