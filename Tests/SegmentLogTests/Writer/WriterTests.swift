// Appending: one sync for each durable commit, all sizes and numbers of records, and disk errors (invariants 4, 6, 7
// and 8).

import LogTesting
import SegmentLog
import Testing

@Suite("A writer")
struct WriterTests {
    @Test("Invariant 8: a durable commit is one sync of the data")
    func oneSync() throws {
        let storage = MemoryStorage(granularity: .sector)
        let writer = try LogWriter.open(storage, configuration: .small(segment: 1 << 20), clock: TestClock())
        try writer.append(RecordBatch([1]))
        storage.resetCounts()
        for number in 0..<50 { try writer.append(RecordBatch([UInt8(number)])) }
        #expect(storage.counts[.sync] == 50)
        #expect(storage.counts[.syncDirectory] == 0)
        for number in 0..<50 { try writer.append(RecordBatch([UInt8(number)]), durability: .buffered) }
        #expect(storage.counts[.sync] == 50)
        try writer.flush()
        #expect(storage.counts[.sync] == 51)
        #expect(writer.durableThrough == writer.lastSequence)
    }

    @Test(
        "keeps records of every size, alone and together",
        arguments: [
            0, 1, 127, 128, 16_383, 16_384, 65_515, 65_520, 65_525, 65_526, 65_527, 65_528, 65_529, 65_535, 65_536,
            131_072, 200_001, 3_000_000,
        ])
    func sizes(_ size: Int) throws {
        let storage = MemoryStorage()
        let writer = try LogWriter.open(storage, configuration: .small(segment: 1 << 20), clock: TestClock())
        var numbers = Chance(seed: UInt64(size))
        let record = (0..<size).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        let batches = [[record], [[1], record, [2]], [record, record], [[], record, []]]
        var expected: [[UInt8]] = []
        for records in batches {
            #expect(try writer.append(RecordBatch(records: records)).count == UInt64(records.count))
            expected += records
        }
        #expect(try TortureReader.read(storage).records == expected)
        try writer.close()
        #expect(try LogVerification(storage).run().isHealthy)
    }

    @Test func `keeps many records without content in one batch`() throws {
        let storage = MemoryStorage()
        let writer = try LogWriter.small(storage)
        let count = 150_000
        try writer.append(RecordBatch(records: [[UInt8]](repeating: [], count: count)))
        #expect(try writer.append(RecordBatch()).isEmpty)
        #expect(try TortureReader.read(storage).records.count == count)
        #expect(try LogVerification(storage).run().isHealthy)
    }

    @Test func `syncing bounds the memory for waiting records`() throws {
        let storage = MemoryStorage(granularity: .sector)
        let writer = try LogWriter.open(storage, configuration: .small(segment: 64 << 20), clock: TestClock())
        var numbers = Chance(seed: 4)
        let record = (0..<100_000).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        for _ in 0..<100 { try writer.append(RecordBatch(record), durability: .buffered) }
        #expect(writer.lastSequence.rawValue - writer.durableThrough.rawValue <= 11)
    }

    @Test(
        "Invariant 7: after a failed sync its file is not touched again, and the commit succeeds elsewhere",
        arguments: [
            FaultPlan.SyncFailure.pagesStayDirty, .pagesMarkedClean, .contentReverted,
        ])
    func failedSync(_ flavour: FaultPlan.SyncFailure) throws {
        let storage = MemoryStorage(granularity: .sector)
        let writer = try LogWriter.small(storage)
        try writer.append(RecordBatch([1]))
        try writer.append(RecordBatch([2]), durability: .buffered)
        storage.arm(FaultPlan(call: 1, of: [.sync], suffix: ".seg", syncFailure: flavour))
        storage.isTracing = true
        try writer.append(RecordBatch([3]))
        let first = "00000001-0000000000000001.seg"
        let calls = storage.trace.filter { $0.contains(first) && !$0.contains(".tmp") }
        #expect(calls.filter { $0.hasPrefix("sync") }.count == 1)
        #expect(calls.last.map { $0.hasPrefix("sync") } ?? false, "\(calls)")
        #expect(writer.durableThrough == SequenceNumber(rawValue: 3))
        try writer.append(RecordBatch([4]))
        for disk in [storage.crash { _ in false }, storage.crash { _ in true }] {
            let reopened = try LogWriter.small(disk)
            #expect(reopened.lastSequence == SequenceNumber(rawValue: 4))
            #expect(try TortureReader.read(disk).records == [[1], [2], [3], [4]])
        }
    }

    @Test("Invariant 6: a writer that stopped says so from then on, and what it acknowledged is there")
    func stopped() throws {
        let storage = MemoryStorage(granularity: .sector)
        let writer = try LogWriter.small(storage)
        try writer.append(RecordBatch([1]))
        storage.arm(FaultPlan(call: 1, of: [.sync], persists: true))
        for _ in 0..<3 {
            #expect {
                try writer.append(RecordBatch([2]))
            } throws: { error in
                (error as? LogError)?.code == .storageFailed && (error as? LogError)?.hint != nil
            }
        }
        storage.disarm()
        #expect(throws: LogError.self) { try writer.append(RecordBatch([3])) }
        #expect(writer.durableThrough == .first)
        let after = try LogWriter.small(storage.crash { _ in false })
        #expect(after.lastSequence == .first)
    }

    @Test func `on a full disk nothing is lost, and the same writer continues when there is room`() throws {
        for persists in [0, 1, 2] {
            let storage = MemoryStorage(granularity: .sector)
            let writer = try LogWriter.open(storage, configuration: .small(segment: 16_384), clock: TestClock())
            storage.capacity = UInt64(30_000 + persists * 1111)
            var numbers = Chance(seed: 8)
            var acknowledged: [[UInt8]] = []
            var refusals = 0
            for round in 0..<200 {
                let record = (0..<400).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
                do throws(LogError) {
                    try writer.append(RecordBatch(record), durability: round % 2 == 0 ? .durable : .buffered)
                    acknowledged.append(record)
                } catch {
                    #expect(error.code == .diskFull)
                    refusals += 1
                    if refusals == 5 { storage.capacity = nil }
                }
            }
            #expect(refusals == 5 && acknowledged.count == 195)
            #expect(try TortureReader.read(storage).records == acknowledged)
            try writer.close()
            #expect(try LogVerification(storage).run().isHealthy)
        }
    }

    @Test func `records and settings beyond the limits are refused with a hint`() throws {
        let writer = try LogWriter.small(MemoryStorage())
        #expect {
            try writer.append(RecordBatch([UInt8](repeating: 1, count: Format.recordLimit + 1)))
        } throws: { error in
            (error as? LogError)?.code == .invalidArgument
        }
        var configuration = LogConfiguration()
        configuration.segmentSize = .bytes(10)
        #expect(throws: LogError.self) { try LogWriter.open(MemoryStorage(), configuration: configuration) }
        #expect(writer.lastSequence == .none)
    }

    @Test("Invariant 4: the epoch rises with every opening, and numbers continue")
    func epochs() throws {
        let storage = MemoryStorage()
        for round in 1...4 {
            let writer = try LogWriter.small(storage)
            #expect(try writer.append(RecordBatch([UInt8(round)])).first.rawValue == UInt64(round))
            if round % 2 == 0 { try writer.close() }
        }
        let head = try #require(storage.contents(of: "HEAD"))
        #expect(head.withUnsafeBytes { HeadReading($0).head }?.epoch == 4)
    }
}
