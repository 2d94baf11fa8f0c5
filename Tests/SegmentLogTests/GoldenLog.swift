// Makes the golden logs of this version, always the same: one with every feature of the format, the same log torn at
// its end, and the same log damaged in its middle, healed and salvaged (the salvaged one gets a new identity each
// time).

import SegmentLog
import Testing

enum GoldenLog {
    static func all() throws -> [(name: String, storage: MemoryStorage)] {
        let whole = try whole()
        let torn = whole.copy()
        let name = try #require(torn.allNames().files.last { $0.hasSuffix(".seg") })
        var bytes = try #require(torn.contents(of: name))
        // A sector of the last frame never reached the disk, nor did HEAD.
        let missing = (try #require(bytes.lastIndex { $0 != 0 }) - 1000) / 512 * 512
        for index in missing..<missing + 512 { bytes[index] = 0 }
        torn.setContents(bytes, of: name)
        try torn.remove("HEAD")

        let healed = whole.copy()
        let segment = "00000001-0000000000000001.seg"
        var damaged = try #require(healed.contents(of: segment))
        damaged[900] ^= 0x10
        healed.setContents(damaged, of: segment)
        let salvaged = MemoryStorage()
        #expect(try !LogSalvage.copy(from: healed, to: salvaged).lost.isEmpty)
        // Without the zeros ahead.
        let copied = try #require(salvaged.contents(of: segment))
        salvaged.setContents(Array(copied[...(try #require(copied.lastIndex { $0 != 0 }) / 8 * 8 + 7)]), of: segment)
        #expect(try !LogHealing(healed, clock: StillClock()).run { _ in true }.isEmpty)
        return [("v1.0", whole), ("v1.0-torn", torn), ("v1.0-healed", healed), ("v1.0-salvaged", salvaged)]
    }

    private static func whole() throws -> MemoryStorage {
        let storage = MemoryStorage()
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        configuration.segmentSize = .kibibytes(8)
        configuration.zeroAhead = .kibibytes(4)
        var clock = StillClock()
        func open(_ creation: LogCreation) throws -> LogWriter {
            try LogWriter.open(storage, creating: creation, configuration: configuration, clock: clock)
        }

        // Plain, compressed, empty; a note, a seal, then a second segment.
        var writer = try open(.always)
        try writer.append(RecordBatch("the first record".utf8))
        for index in 0..<40 { try writer.append(item(index), durability: index % 3 == 0 ? .durable : .buffered) }
        try writer.append(RecordBatch([]))
        try writer.setNote(LogNote(through: writer.lastSequence, bytes: Array("a note".utf8)))
        try writer.roll()
        for index in 40..<60 { try writer.append(item(index)) }
        try writer.close()

        // A later session without compression, so that zeros must be masked; a transaction of many frames, one
        // record larger than a frame.
        clock.time += 60_000
        configuration.compresses = false
        writer = try open(.never)
        try writer.append(RecordBatch(noise(4200, seed: 1) + [UInt8](repeating: 0, count: 700) + noise(20, seed: 2)))
        try writer.close()
        configuration.compresses = true
        writer = try open(.never)
        var batch = RecordBatch()
        for index in 0..<2000 { batch.append("\(index): many small records make a transaction of several frames".utf8) }
        try writer.append(batch)
        batch = RecordBatch("before".utf8)
        batch.append(noise(1200, seed: 3) + [UInt8](repeating: 0x20, count: 1_200_000) + noise(1200, seed: 4))
        batch.append("after".utf8)
        try writer.append(batch)
        for index in 60..<70 { try writer.append(item(index)) }
        try checkpoint(writer, through: 30, clock)
        try writer.append(RecordBatch(noise(1500, seed: 5)), durability: .ordered)
        try writer.flush()
        try writer.attest()
        return storage
    }

    private static func item(_ index: Int) -> RecordBatch {
        RecordBatch("{\"id\":\(index),\"title\":\"Buy milk\",\"list\":\"groceries\",\"done\":\(index % 2 == 0)}".utf8)
    }

    private static func noise(_ length: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    private static func checkpoint(_ writer: LogWriter, through record: UInt64, _ clock: StillClock) throws {
        var checkpoint = try CheckpointWriter.begin(for: writer, through: .init(rawValue: record), clock: clock)
        for block in [[], Array("one block".utf8), noise(3000, seed: 6), [UInt8](repeating: 0x2E, count: 9000)] {
            _ = try block.withUnsafeBytes { try checkpoint.append($0) }
        }
        try checkpoint.finish(note: Array("the state's digest".utf8))
    }
}
