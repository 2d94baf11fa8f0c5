// Reading while a writer writes: whole transactions, in order, up to what is durable; from any record and any time;
// through rolls and moves; with leases that keep history (invariants 29 to 31).

import LogTesting
import SegmentLog
import Testing

@Suite("A reader")
struct ReaderTests {
    /// Bytes that do not compress, so that segments fill.
    private func record(_ number: Int, size: Int = 20) -> [UInt8] {
        var numbers = Chance(seed: UInt64(number))
        return Array("record \(number) ".utf8) + (0..<size).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
    }

    /// A log of several segments, its records numbered from 1.
    private func log(records: Int, on storage: any LogStorage) throws -> LogWriter {
        let writer = try LogWriter.small(storage)
        for number in 1...records { try writer.append(RecordBatch(record(number, size: 200))) }
        return writer
    }

    @Test("Invariant 30: it shows only what is durable, unless asked for all that is written")
    func visibility() throws {
        let storage = MemoryStorage(granularity: .sector)
        let writer = try LogWriter.small(storage)
        try writer.append(RecordBatch(record(1)))
        try writer.append(RecordBatch(record(2)), durability: .buffered)
        #expect(try TortureReader.read(storage, showing: .written).last == 2)
        #expect(try TortureReader.read(storage, showing: .durable).last == 1)
        try writer.append(RecordBatch(record(3)))
        // The third frame was written before its own sync: it attests the first, and HEAD says nothing yet.
        #expect(try TortureReader.read(storage, showing: .durable).last <= 3)
        try writer.attest()
        #expect(try TortureReader.read(storage, showing: .durable).last == 3)
    }

    @Test("Invariant 30: a transaction of many frames is shown whole or not at all")
    func wholeTransactions() throws {
        let storage = MemoryStorage()
        let writer = try LogWriter.small(storage, creating: .ifMissing, .small(segment: 1 << 20))
        var numbers = Chance(seed: 3)
        let large = RecordBatch(
            records: (0..<40).map { _ in (0..<5000).map { _ in UInt8(truncatingIfNeeded: numbers.next()) } })
        try writer.append(RecordBatch(record(1)))
        try writer.append(large)
        let name = "00000001-0000000000000001.seg"
        let whole = try #require(storage.contents(of: name))
        #expect(try TortureReader.read(storage).last == 41)
        for length in stride(from: 600, to: whole.count, by: 7919) {
            let cut = storage.copy()
            cut.setContents(Array(whole[..<length]), of: name)
            let last = try TortureReader.read(cut).last
            #expect([0, 1, 41].contains(last), "cut to \(length): shows through @\(last)")
        }
    }

    @Test func `it begins with any record`() throws {
        let storage = MemoryStorage()
        let writer = try log(records: 60, on: storage)
        try writer.attest()
        for first in 1...60 {
            let reading = try TortureReader.read(storage, showing: .durable, from: UInt64(first))
            #expect(reading.error == nil && reading.first == first && reading.last == 60)
            #expect(reading.records.first == record(first, size: 200))
        }
        #expect(try TortureReader.read(storage, from: 61).records.isEmpty)
    }

    @Test func `it begins with any time`() throws {
        let storage = MemoryStorage()
        let clock = TestClock()
        let writer = try LogWriter.open(storage, configuration: .small(), clock: clock)
        for number in 1...60 {
            clock.set(Int64(number) * 1000)
            try writer.append(RecordBatch(record(number, size: 200)))
        }
        try writer.attest()
        let reader = try LogReader.open(storage)
        for number in 1...60 {
            var cursor = try reader.cursor(since: WallTime(rawValue: Int64(number) * 1000))
            try #require(try cursor.nextFrame())
            #expect(cursor.firstSequence == SequenceNumber(rawValue: UInt64(number)))
        }
        var cursor = try reader.cursor(since: WallTime(rawValue: 90_000))
        #expect(try !cursor.nextFrame())
    }

    @Test func `it follows a live writer through rolls`() throws {
        let storage = MemoryStorage()
        let writer = try LogWriter.small(storage)
        var cursor = try LogReader.open(storage, showing: .written).cursor()
        var seen: UInt64 = 0
        for number in 1...120 {
            try writer.append(
                RecordBatch(record(number, size: 150)), durability: number % 3 == 0 ? .durable : .buffered)
            while try cursor.nextFrame() {
                cursor.forEachRecord { number, _ in
                    seen += 1
                    #expect(number.rawValue == seen)
                }
            }
            #expect(seen == number)
        }
        #expect(writer.statistics.rolls > 2)
    }

    @Test func `it follows when a failed sync moves records to a new segment`() throws {
        let storage = MemoryStorage(granularity: .sector)
        let writer = try LogWriter.small(storage)
        var cursor = try LogReader.open(storage, showing: .written).cursor()
        var seen: [UInt64] = []
        func follow() throws {
            while try cursor.nextFrame() { cursor.forEachRecord { number, _ in seen.append(number.rawValue) } }
        }
        try writer.append(RecordBatch(record(1)))
        try writer.append(RecordBatch(record(2)), durability: .buffered)
        try follow()
        storage.arm(FaultPlan(call: 1, of: [.sync], suffix: ".seg", syncFailure: .pagesMarkedClean))
        try writer.append(RecordBatch(record(3)))
        try writer.append(RecordBatch(record(4)))
        try follow()
        #expect(seen == [1, 2, 3, 4])
        #expect(try storage.names(in: "").filter { $0.hasSuffix(".seg") }.count == 2)
    }

    @Test func `records that were collected are an error that says where the log begins`() throws {
        let storage = MemoryStorage()
        let writer = try log(records: 60, on: storage)
        try CheckpointWriter.begin(for: writer, through: writer.durableThrough).finish(note: [])
        let collection = try writer.collect(keepingFrom: SequenceNumber(rawValue: 50))
        #expect(collection.segmentsRemoved > 0 && collection.floor <= SequenceNumber(rawValue: 50))
        let reading = try TortureReader.read(storage, from: 1)
        #expect(reading.error?.code == .collected && reading.error?.hint != nil)
        #expect(try TortureReader.read(storage).first == collection.floor.rawValue)
    }

    @Test("Invariant 25: nothing is collected that is needed, above a verified checkpoint, or claimed by a reader")
    func collection() throws {
        let storage = MemoryStorage()
        let writer = try log(records: 60, on: storage)
        #expect(try writer.collect(keepingFrom: SequenceNumber(rawValue: 50)).segmentsRemoved == 0)
        try CheckpointWriter.begin(for: writer, through: SequenceNumber(rawValue: 30)).finish(note: [])
        let lease = try LogReader.open(storage).lease(from: SequenceNumber(rawValue: 10))
        #expect(try writer.collect(keepingFrom: SequenceNumber(rawValue: 50)).floor <= SequenceNumber(rawValue: 10))
        #expect(try TortureReader.read(storage, from: 10).error == nil)
        lease.release()
        let floor = try writer.collect(keepingFrom: SequenceNumber(rawValue: 50)).floor
        #expect(floor > SequenceNumber(rawValue: 10) && floor <= SequenceNumber(rawValue: 31))
        #expect(throws: LogError.self) { try LogReader.open(storage).lease(from: .first) }
        #expect(try TortureReader.read(storage).last == 60)
    }

    @Test func `blocks that fit a page of the file are in one, once little of a page is left`() throws {
        let storage = MemoryStorage()
        let writer = try log(records: 5, on: storage)
        var checkpoint = try CheckpointWriter.begin(for: writer, through: writer.lastSequence)
        let blocks = (0..<400).map { record($0, size: 3870 + $0 * 31 % 110) }
        var addresses: [BlockAddress] = []
        for block in blocks {
            addresses.append(try block.withUnsafeBytes { bytes throws(LogError) in try checkpoint.append(bytes) })
        }
        try checkpoint.finish(note: [])
        let open = try #require(try Checkpoint.newest(try LogReader.open(storage)))
        try open.verify()
        #expect(try open.blocks() == addresses)
        for (address, block) in zip(addresses, blocks) { #expect(try open.block(at: address) == block) }
        let inTwo = zip(addresses, blocks).filter { address, block in
            let end = address.rawValue + UInt64(FrameHeader.frameLength(stored: block.count))
            return address.rawValue / 4096 != (end - 1) / 4096
        }
        #expect(inTwo.count < 80)
        #expect(addresses.suffix(100).allSatisfy { $0.rawValue % 4096 == 0 })
    }

    @Test("Invariant 24: a checkpoint counts once it was read back, and a damaged one is never given out")
    func checkpoints() throws {
        let storage = MemoryStorage()
        let writer = try log(records: 20, on: storage)
        var checkpoint = try CheckpointWriter.begin(for: writer, through: writer.lastSequence)
        let blocks = (0..<50).map { record($0, size: 3000) }
        var addresses: [BlockAddress] = []
        for block in blocks {
            addresses.append(try block.withUnsafeBytes { bytes throws(LogError) in try checkpoint.append(bytes) })
        }
        try checkpoint.finish(note: [7, 8, 9])
        let reader = try LogReader.open(storage)
        let open = try #require(try Checkpoint.newest(reader))
        #expect(open.note == [7, 8, 9] && open.through == writer.lastSequence)
        #expect(try open.blocks() == addresses)
        for (address, block) in zip(addresses, blocks).reversed() { #expect(try open.block(at: address) == block) }
        #expect(throws: LogError.self) { try open.block(at: BlockAddress(rawValue: addresses[1].rawValue + 8)) }

        let name = try #require(try storage.names(in: "").first { $0.hasSuffix(".checkpoint") })
        let whole = try #require(storage.contents(of: name))
        for index in stride(from: 0, to: whole.count, by: 97) {
            var damaged = whole
            damaged[index] ^= 0x10
            storage.setContents(damaged, of: name)
            let isTaken = (try? Checkpoint.newest(reader)).map { (try? $0?.verify()) != nil && $0 != nil } ?? false
            #expect(!isTaken, "byte \(index) flipped")
        }
    }

    @Test("Invariant 29: a second writer is refused at once, with the process that holds the lock")
    func secondWriter() throws {
        for kind in StorageKind.allCases {
            let fixture = try StorageFixture(kind)
            let writer = try LogWriter.small(fixture.storage)
            #expect {
                try LogWriter.small(fixture.storage)
            } throws: { error in
                (error as? LogError)?.code == .storeLocked
            }
            try writer.close()
            #expect(throws: LogError.self) { try writer.append(RecordBatch([1])) }
            try LogWriter.small(fixture.storage).close()
        }
    }

    @Test("Invariant 31: opening reads the last segment and a few bytes of each other")
    func openingCost() throws {
        func readToOpen(_ records: Int) throws -> (bytes: UInt64, segments: UInt64) {
            let storage = MemoryStorage(granularity: .sector)
            let writer = try LogWriter.open(storage, configuration: .small(segment: 65_536), clock: TestClock())
            var numbers = Chance(seed: 9)
            for _ in 0..<records {
                try writer.append(
                    RecordBatch((0..<4000).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }),
                    durability: .buffered)
            }
            let segments = UInt64(try storage.names(in: "").filter { $0.hasSuffix(".seg") }.count)
            let killed = storage.processKill()
            killed.resetCounts()
            _ = try LogWriter.open(killed, configuration: .small(segment: 65_536), clock: TestClock())
            return (killed.counts.bytesRead, segments)
        }
        let (few, many) = (try readToOpen(60), try readToOpen(600))
        let more = many.segments - few.segments
        #expect(more > 20)
        #expect(many.bytes < few.bytes + 70_000 + more * 8192, "\(few) and \(many)")
    }
}
