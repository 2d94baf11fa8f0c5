// Blocks in columns: every entry is given back byte by byte, and damaged blocks are refused.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct ColumnBlockTests {
    @Test func `every entry is given back byte by byte`() throws {
        var seen: Set<UInt8> = []
        let symbols = SymbolTable.sample(["buy milk", "the garden für the milk", "long long long "])
        for seed in UInt64(1)...600 {
            var chance = Chance(seed: seed)
            let rows = ColumnRows(&chance)
            var writer = ColumnBlockWriter()
            for (key, value) in zip(rows.keys, rows.values) {
                let isTaken = key.withBytes { key in
                    value.withBytes { writer.append(key, $0, lengthAt: rows.split) }
                }
                #expect(isTaken, "seed \(seed)")
            }
            let table = chance.below(3) == 0 ? nil : symbols
            var bytes = ByteWriter()
            var count = rows.keys.count
            while !writer.write(count, table.map { SymbolEncoder($0) }, to: &bytes) { count = (count + 1) / 2 }
            let block = RunBlock(bytes.inPlace)
            let columns = try #require(block.columns, "seed \(seed)")
            #expect(columns.rows == count)
            for column in columns.columns { seen.insert(column.encoding.rawValue) }
            let row = ColumnRow()
            columns.symbols = table
            row.move(to: .passUnretained(columns))
            for place in 0..<count {
                let key = rows.keys[place]
                let found = key.withBytes { columns.place(of: $0) }
                #expect(found.row == place && found.isFound, "seed \(seed) \(place)")
                var entry = ByteWriter()
                columns.append(keyOf: place, to: &entry)
                #expect(entry.bytes == key)
                row.move(to: place)
                #expect([UInt8](try row.whole()) == rows.values[place], "seed \(seed) \(place)")
            }
            for _ in 0..<20 {
                let other = RowKey.prefix("t") + [UInt8(chance.below(5))] + chance.bytes(chance.below(20))
                let place = rows.keys[..<count].firstIndex { !$0.lexicographicallyPrecedes(other) } ?? count
                let found = other.withBytes { columns.place(of: $0) }
                #expect(
                    found.row == place && found.isFound == (place < count && rows.keys[place] == other), "seed \(seed)")
            }
        }
        #expect(seen == Set((1...9).map { UInt8($0) }), "an encoding was not used")
    }

    @Test func `a row whose symbols can't be read is refused, not shown without values`() throws {
        let symbols = SymbolTable.sample(["buy milk", "the garden für the milk"])
        let shape = RowShape(["text"])
        var refused = 0
        for seed in UInt64(1)...100 {
            var chance = Chance(seed: seed)
            let rows = ColumnRows(&chance, most: 64)
            var writer = ColumnBlockWriter()
            for (key, value) in zip(rows.keys, rows.values) {
                key.withBytes { key in value.withBytes { _ = writer.append(key, $0, lengthAt: rows.split) } }
            }
            var bytes = ByteWriter()
            guard writer.write(rows.keys.count, SymbolEncoder(symbols), to: &bytes) else { continue }
            let block = RunBlock(bytes.inPlace)
            let columns = try #require(block.columns)
            let row = ColumnRow()
            row.move(to: .passUnretained(columns))
            let view = RowView(.passUnretained(shape), .passUnretained(row))
            for place in 0..<rows.keys.count {
                row.move(to: place)
                columns.symbols = symbols
                #expect(try view.row.bytes == [UInt8](row.values()))
                columns.symbols = nil
                do throws(SyncError) {
                    let found = try view.row
                    #expect(!found.bytes.isEmpty)
                } catch {
                    #expect(error == .malformed("a run's block"))
                    refused += 1
                }
            }
        }
        #expect(refused > 100)
    }

    @Test func `a key that a block in columns lacks may be in an older run`() throws {
        var chance = Chance(seed: 3)
        let store = StateStore()
        var rows = ColumnRows(&chance)
        while rows.keys.count < 100 { rows = ColumnRows(&chance) }
        for (key, value) in zip(rows.keys, rows.values) {
            key.withBytes { key in value.withBytes { store.put(key, $0, old: nil) } }
        }
        store.endCommit()
        try store.settle(above: 0)
        let run = try #require(store.layers.runs.first)
        #expect(run.symbols != nil)
        // No filter covers the last, the key of a change.
        for absent in [rows.keys[3] + [0], rows.keys[99] + [0], [127, 0, 1]] {
            let found = try absent.withBytes { key throws(SyncError) in try run.find(key) }
            #expect(found == nil)
        }
        let found = try rows.keys[7].withBytes { key throws(SyncError) in try run.find(key) }
        #expect(found??.copy == rows.values[7])
    }

    @Test func `damaged blocks are refused, never a trap`() throws {
        var refused = 0
        for seed in UInt64(1)...300 {
            var chance = Chance(seed: seed)
            let block = DamagedBlock(&chance)
            for _ in 0..<40 { if !block.read(changing: DamagedBlock.changes(&chance)) { refused += 1 } }
        }
        #expect((1000..<11000).contains(refused))
    }

    @Test func `a string is what its symbols say`() throws {
        var chance = Chance(seed: 5)
        let words = ["the", "milk", "für", "\0", "ÿ", "", "a", "zebra crossing"]
        func text() -> String {
            (0..<chance.below(12)).map { _ in words[chance.below(words.count)] }.joined(separator: " ")
        }
        for _ in 0..<30 {
            let table = SymbolTable.sample((0..<chance.below(40)).map { _ in text() })
            let copy = try table.bytes.withBytes { bytes throws(MalformedBytes) in try SymbolTable(bytes) }
            #expect(copy.bytes == table.bytes)
            let encoder = SymbolEncoder(table)
            for _ in 0..<50 {
                let plain = Array(text().utf8) + (chance.below(4) == 0 ? chance.bytes(chance.below(30)) : [])
                let codes = UnsafeMutableRawBufferPointer.allocate(byteCount: plain.count * 2 + 8, alignment: 8)
                let back = UnsafeMutableRawBufferPointer.allocate(byteCount: plain.count * 16 + 16, alignment: 8)
                defer {
                    codes.deallocate()
                    back.deallocate()
                }
                let start = try #require(codes.baseAddress)
                let count = plain.withBytes { encoder.encode($0, to: start) }
                let length = copy.decoder.decode(Bytes(start: start, count: count), to: try #require(back.baseAddress))
                #expect(length.map { Array(back[..<$0]) } == plain)
            }
        }
    }
}
