// Random rows for blocks in columns.

import SynclineGround

#if !FUZZING
    import LogTesting

    @testable import SynclineCore
#endif

/// Rows of one table in the order of their keys, whose columns have values of some kind each.
struct ColumnRows {
    var keys: [[UInt8]] = []
    var values: [[UInt8]] = []
    var split = 0

    init(_ chance: inout Chance, most: Int = 300) {
        let count = min(most, [1, 2, 7, 8, 9, 63, 64, 65, 100, 300][chance.below(10)])
        let kinds = (0..<1 + chance.below(8)).map { _ in chance.below(12) }
        let numbers = chance.below(3)
        let hasLongIDs = chance.below(3) == 0
        var ids: Set<[UInt8]> = []
        while ids.count < count {
            ids.insert(
                hasLongIDs
                    ? chance.bytes(1 + chance.below(40))
                    : (chance.below(2) == 0 ? [7, 7, 7, 7, 7, 7, 7, 7, 7] : []) + chance.bytes(16))
        }
        keys = ids.map { RowKey.prefix("t") + [hasLongIDs ? 3 : 1] + $0 }
        keys.sort { $0.lexicographicallyPrecedes($1) }
        var writer = ByteWriter()
        writer.append(RowFlags.pending.rawValue)
        writer.append(PendingFlags.present.rawValue)
        writer.append(varint: 300)
        let head = writer.bytes
        split = head.count
        for _ in 0..<count {
            var columns = ByteWriter()
            for kind in kinds { columns.append(value: ColumnRows.value(of: kind, &chance)) }
            var value = ByteWriter()
            value.append(head)
            value.append(counted: columns.bytes)
            for _ in 0..<numbers { value.append(varint: chance.next() >> UInt64(chance.below(64))) }
            values.append(value.bytes)
        }
    }

    private static func value(of kind: Int, _ chance: inout Chance) -> Value {
        switch kind {
        case 0: .bool(chance.below(2) == 0)
        case 1: .integer(Int64(chance.below(5)))
        case 2: .integer(Int64(bitPattern: chance.next()) >> Int64(chance.below(64)))
        case 3: chance.below(3) == 0 ? .null : .bool(true)
        case 4: chance.below(3) == 0 ? .null : .integer(Int64(chance.below(1000)) - 500)
        case 5: .string(["home", "work", "garden"][chance.below(3)])
        case 6:
            .string(
                (0..<chance.below(9)).map { _ in ["buy", "milk", "für", "the", ""][chance.below(5)] }.joined(
                    separator: " "))
        case 7: chance.below(4) == 0 ? .null : .string(String(repeating: "long ", count: chance.below(200)))
        case 8: .double(Double(chance.below(1000)) / 100)
        case 9: .string("0000\(1000 + chance.below(9000))-0000-4000-8000-00000000\(1000 + chance.below(9000))")
        case 10: .string("2026-05-0\(1 + chance.below(9))T21:30:00.\(100 + chance.below(900))Z")
        default: [.null, .bool(true), .integer(7), .string("x"), .array([.integer(1)])][chance.below(5)]
        }
    }
}

extension SymbolTable {
    /// A table made from strings.
    static func sample(_ texts: [String]) -> SymbolTable {
        let bytes = texts.map { Array($0.utf8) }
        let memory = bytes.map { text in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.count), alignment: 1)
            copy.copyBytes(from: text)
            return Bytes(rebasing: Bytes(copy)[..<text.count])
        }
        defer { for text in memory { UnsafeMutableRawBufferPointer(mutating: text).deallocate() } }
        return .trained(on: memory)
    }
}
