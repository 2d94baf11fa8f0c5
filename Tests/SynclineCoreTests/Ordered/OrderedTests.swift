// The ordered store compared with a dictionary: random puts, removals, commits, rotations, merges, undos; every
// snapshot stays unchanged.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

/// A store and its expected content.
private struct Play {
    var chance: Chance
    let store = StateStore()
    let blocks = MemoryBlocks()
    var model: [[UInt8]: [UInt8]] = [:]
    var snapshots: [(snapshot: StateSnapshot, model: [[UInt8]: [UInt8]])] = []

    /// Whether most entries are rows, which runs keep in columns.
    let hasRows: Bool

    init(seed: UInt64) {
        chance = Chance(seed: seed)
        hasRows = seed % 2 == 0
    }

    private mutating func rowKey() -> [UInt8] {
        var id = Chance(seed: UInt64(chance.below(chance.once(in: 3) ? 2000 : 100)))
        return RowKey.prefix(chance.once(in: 9) ? "u" : "t")
            + (id.once(in: 5) ? [3] + id.bytes(1 + id.below(6)) : [1] + id.bytes(16))
    }

    private mutating func rowValue() -> [UInt8] {
        var columns = ByteWriter()
        columns.append(value: .string(chance.pick(["buy milk", "walk the dog", "buy the milk for the dog", ""])))
        columns.append(value: chance.once(in: 9) ? .null : .integer(Int64(chance.below(5000))))
        columns.append(value: .bool(chance.once(in: 3)))
        var value = ByteWriter()
        value.append(RowFlags.base.rawValue)
        value.append(varint: chance.once(in: 12) ? 8 : 7)
        value.append(counted: columns.bytes)
        return value.bytes
    }

    mutating func key() -> [UInt8] {
        if hasRows, !chance.once(in: 8) { return rowKey() }
        return otherKey()
    }

    private mutating func otherKey() -> [UInt8] {
        switch chance.below(4) {
        case 0: chance.bytes(chance.below(4))
        case 1: Array("row/\(chance.below(2000))".utf8)
        default: Array("row/\(chance.below(40))".utf8)
        }
    }

    mutating func value() -> [UInt8] {
        if hasRows, !chance.once(in: 12) { return rowValue() }
        return chance.bytes(chance.once(in: 200) ? 20_000 : chance.below(60))
    }

    mutating func change() throws(SyncError) {
        let key = key()
        let old = try key.withBytes { key throws(SyncError) in try store.value(key) }
        guard old.map(\.copy) == model[key] else { throw .malformed("the value of \(key)") }
        if chance.once(in: 3) {
            if let old { key.withBytes { store.remove($0, old: old) } }
            model[key] = nil
        } else {
            let value = value()
            key.withBytes { key in value.withBytes { store.put(key, $0, old: old) } }
            model[key] = value
        }
    }

    /// A commit of some changes, a part of which may be undone.
    mutating func commit() throws(SyncError) {
        store.beginChanges()
        for _ in 0..<chance.below(12) { try change() }
        let (mark, kept) = (store.changeCount, model)
        let digest = store.digest
        if chance.once(in: 3) {
            for _ in 0..<chance.below(12) { try change() }
            if chance.once(in: 2) { store.endCommit() }
            try store.takeBack(to: mark)
            model = kept
            if store.digest != digest { throw .malformed("the digest after taking back") }
        }
        store.endChanges()
        let snapshot = store.endCommit()
        if snapshots.count > 6 { snapshots.remove(at: chance.below(6)) }
        snapshots.append((snapshot, model))
    }

    mutating func makeRoom() throws(SyncError) {
        if store.layers.isFullSet {
            try store.mergeFull(into: blocks, merging: chance.below(store.layers.runs.count + 1))
        } else {
            store.rotate()
        }
    }

    mutating func step() throws(SyncError) {
        if chance.once(in: 12) { try makeRoom() } else { try commit() }
    }

    /// Compares a snapshot with its model, from larger keys to smaller ones.
    private func checkBackward(
        _ snapshot: StateSnapshot, _ model: [[UInt8]: [UInt8]], from start: [UInt8], before end: [UInt8]
    ) throws(SyncError) -> Bool {
        let expected = model.keys.filter { !$0.lexicographicallyPrecedes(start) && $0.lexicographicallyPrecedes(end) }
            .sorted { $1.lexicographicallyPrecedes($0) }
        var found: [[UInt8]] = []
        var areValuesRight = true
        try snapshot.forEachBackward(from: start, before: end) { key, value in
            found.append([UInt8](key))
            areValuesRight = areValuesRight && model[[UInt8](key)] == [UInt8](value)
            return true
        }
        return areValuesRight && found == expected
    }

    /// Compares a snapshot with its model: everything, from a key on, and single keys.
    mutating func check(_ snapshot: StateSnapshot, _ model: [[UInt8]: [UInt8]]) throws(SyncError) -> Bool {
        var place = try [UInt8]().withBytes { key throws(SyncError) in try snapshot.cursor(from: key) }
        for (key, value) in model.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard place.key?.elementsEqual(key) == true, place.value?.elementsEqual(value) == true else { return false }
            try place.advance()
        }
        guard place.key == nil else { return false }
        guard try checkBackward(snapshot, model, from: [], before: [0xff, 0xff, 0xff, 0xff, 0xff]) else { return false }
        for _ in 0..<5 {
            let start = key()
            guard try checkBackward(snapshot, model, from: start, before: key()) else { return false }
            let expected = model.filter { !$0.key.lexicographicallyPrecedes(start) }
            guard try snapshot.contents(from: start) == expected else { return false }
            let found = try start.withBytes { key throws(SyncError) in try snapshot.value(key) }
            guard found.map(\.copy) == model[start] else { return false }
        }
        guard try checkVisits(snapshot, model) else { return false }
        return try checkTogether(snapshot, model)
    }

    /// Visits the keys from one on, and those with a prefix, up to some number of them.
    private mutating func checkVisits(
        _ snapshot: StateSnapshot, _ model: [[UInt8]: [UInt8]]
    ) throws(SyncError) -> Bool {
        let entries = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { [$0.key, $0.value] }
        for _ in 0..<6 {
            let (start, most) = (key(), chance.pick([1, 2, 30, .max]))
            let prefix = chance.pick([[], [0xff], [0xff, 0xff], Array(start.prefix(5)), Array(start.prefix(1)), start])
            var (found, foundByPrefix): ([[[UInt8]]], [[[UInt8]]]) = ([], [])
            try snapshot.forEach(from: start) { key, value in
                found.append([[UInt8](key), [UInt8](value)])
                return found.count < most
            }
            try snapshot.forEach(prefix: prefix) { key, value in
                foundByPrefix.append([[UInt8](key), [UInt8](value)])
                return foundByPrefix.count < most
            }
            let expected = entries.filter { !$0[0].lexicographicallyPrecedes(start) }.prefix(most)
            guard found == Array(expected) else { return false }
            let withPrefix = entries.filter { $0[0].starts(with: prefix) }
            guard foundByPrefix == Array(withPrefix.prefix(most)) else { return false }
            var foundByLayer: [[[UInt8]]] = []
            try snapshot.forEachByLayer(prefix: prefix, nil) { key, value throws(SyncError) in
                foundByLayer.append([[UInt8](key), [UInt8](try value.bytes())])
                return foundByLayer.count < most
            }
            foundByLayer.sort { $0[0].lexicographicallyPrecedes($1[0]) }
            let isWhole = most == .max || withPrefix.count < most
            guard isWhole ? foundByLayer == withPrefix : foundByLayer.count == most else { return false }
        }
        return true
    }

    /// Looks up several keys at once.
    private mutating func checkTogether(
        _ snapshot: StateSnapshot, _ model: [[UInt8]: [UInt8]]
    ) throws(SyncError) -> Bool {
        var keys = RowKeys(prefix: [])
        let wanted = Set((0..<chance.below(40)).map { _ in key() } + model.keys.prefix(chance.below(10)))
        for key in wanted { keys.append(key: key) }
        keys.sort()
        var found: [[[UInt8]]] = []
        let areKnown = chance.once(in: 2)
        try keys.forEachValue(in: snapshot, areKnown: areKnown) { key, value, _ throws(SyncError) in
            found.append([[UInt8](key), [UInt8](try value.bytes())])
        }
        let expected = wanted.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { key in
            model[key].map { [key, $0] }
        }
        return found == expected
    }

    mutating func checkAll() throws(SyncError) -> Bool {
        for (snapshot, model) in snapshots { guard try check(snapshot, model) else { return false } }
        return true
    }
}

@Suite struct OrderedTests {
    @Test func `the store agrees with a dictionary, and snapshots stay as they were`() throws {
        for seed in UInt64(1)...25 {
            var play = Play(seed: seed)
            for step in 0..<100 {
                try play.step()
                if step % 50 == 49 { try #require(try play.checkAll(), "seed \(seed), step \(step)") }
            }
            var digest = Digest()
            for (key, value) in play.model { key.withBytes { key in value.withBytes { digest.add(key, $0) } } }
            try #require(play.store.digest == digest, "seed \(seed)")
        }
    }

    @Test func `a block of usual entries is full before it needs a second page of a file`() throws {
        let store = StateStore()
        for number in 0..<2000 {
            let key = Array("row/\(10_000 + number)".utf8)
            let value = [UInt8](repeating: 7, count: 20 + number * 37 % 180)
            key.withBytes { key in value.withBytes { store.put(key, $0, old: nil) } }
        }
        store.endCommit()
        store.rotate()
        var sizes: [Int] = []
        let root = try RunWriter.write(try store.layers.cursorOverRuns(0)) { block in
            sizes.append(block.count)
            return UInt64(sizes.count)
        }
        #expect(root.count == 2000)
        // The last blocks are the rest of the entries, the index and the filter. 96 bytes are for a frame and a filler.
        let full = sizes.dropLast(root.indexBlocks.count + root.filterBlocks.count + 1)
        #expect(full.count > 40)
        #expect(full.allSatisfy { (3400...4000).contains($0) }, "\(full)")
    }

    @Test func `there are few runs, and removals end in the oldest`() throws {
        var play = Play(seed: 7)
        for _ in 0..<60 {
            for _ in 0..<10 { try play.commit() }
            play.store.rotate()
            try play.store.mergeFull(into: play.blocks)
            #expect(play.store.layers.runs.count <= 8)
        }
        for key in play.model.keys {
            try key.withBytes { key in
                let old = try #require(try play.store.value(key))
                play.store.remove(key, old: old)
            }
        }
        play.store.endCommit()
        #expect(try play.store.snapshot.contents().isEmpty)
        #expect(play.store.digest == Digest())
        play.store.rotate()
        // Merged with everything, nothing is left.
        let all = play.store.layers.runs.count
        let root = try RunWriter.write(try play.store.layers.cursorOverRuns(all)) { play.blocks.append($0) }
        #expect(root.count == 0)
        play.store.install([try Run(root, play.blocks, file: 1)])
        #expect(try play.store.snapshot.contents().isEmpty)
    }

    @Test func `a search finds the key that was asked for, or the first that is not before it`() throws {
        for seed in UInt64(1)...200 {
            var chance = Chance(seed: seed)
            // Keys that share much, end early, or share nothing with most.
            let common = (0..<[0, 1, 9][Int(seed % 3)]).map { _ in UInt8(chance.below(3)) }
            let same = [UInt8](repeating: UInt8(seed % 2), count: [0, 4, 8][chance.below(3)])
            func key() -> [UInt8] {
                let start = (chance.below(20) == 0 ? [] : common) + (chance.below(2) == 0 ? [] : same)
                return start + (0..<chance.below(6)).map { _ in UInt8(chance.below(3)) }
            }
            let keys = Set((0..<40).map { _ in key() }).sorted { $0.lexicographicallyPrecedes($1) }
            // From a part for each to one for all.
            let room = [UInt8](repeating: 0, count: [600, 100, 10, 0][Int(seed / 3 % 4)])
            var writer = RunBlockWriter()
            for key in keys { key.withBytes { key in (room + key).withBytes { writer.append(key, $0) } } }
            let block = writer.withBlock { RunBlock($0) }
            for _ in 0..<200 {
                let wanted = key()
                var found: [[UInt8]] = []
                try wanted.withBytes { bytes throws(MalformedBytes) in
                    var cursor = try RunBlock.Cursor(block, from: bytes)
                    while cursor.isValid {
                        found.append([UInt8](cursor.key))
                        try cursor.advance()
                    }
                }
                #expect(found == keys.filter { !$0.lexicographicallyPrecedes(wanted) }, "seed \(seed)")
                let value = try wanted.withBytes { bytes throws(MalformedBytes) -> [UInt8]? in
                    if case .value(let value) = try block.find(bytes) { [UInt8](value) } else { nil }
                }
                #expect(value == (keys.contains(wanted) ? room + wanted : nil), "seed \(seed)")
            }
        }
    }

    @Test func `a block without parts is refused`() {
        let block = [UInt8](repeating: 0, count: 40).withBytes { RunBlock($0) }
        #expect(throws: MalformedBytes.self) { try Array("key".utf8).withBytes { try block.find($0) } }
        #expect(throws: MalformedBytes.self) {
            try Array("key".utf8).withBytes { _ = try RunBlock.Cursor(block, from: $0) }
        }
    }

    @Test func `damaged blocks are refused, never a trap`() throws {
        for seed in UInt64(1)...200 {
            var chance = Chance(seed: seed)
            var block = RunBlockWriter()
            for number in 0..<20 {
                Array("key\(100 + number)".utf8).withBytes { key in
                    chance.bytes(number % 4 == 0 ? 600 : 9).withBytes { block.append(key, $0) }
                }
            }
            let whole = block.withBlock { [UInt8]($0) }
            for _ in 0..<50 {
                var bytes = whole
                bytes[chance.below(bytes.count)] = UInt8(truncatingIfNeeded: chance.next())
                bytes.removeLast(chance.below(8))
                let damaged = bytes.withBytes { RunBlock($0) }
                var count = 0
                do throws(MalformedBytes) {
                    try Array("key1\(seed % 30)".utf8).withBytes { key throws(MalformedBytes) in
                        _ = try damaged.find(key)
                        var cursor = try RunBlock.Cursor(damaged, from: key)
                        while cursor.isValid {
                            count += 1
                            try cursor.advance()
                        }
                    }
                } catch {}
                #expect(count <= bytes.count, "seed \(seed)")
            }
        }
    }
}
