// Tasks, threads and readers on one log at once: each batch gets its own numbers and finds its records there,
// commits that arrive together share a sync, and a cancelled task leaves a stored batch and not a doubtful one. Runs
// under the thread sanitizer, too.

import Dispatch
import LogTesting
import Testing

@testable import SegmentLog

@Suite struct ConcurrencyTests {
    private static func configuration() -> LogConfiguration {
        var configuration = LogConfiguration()
        configuration.segmentSize = .kibibytes(16)
        configuration.zeroAhead = .kibibytes(4)
        return configuration
    }

    /// Records that identify their writer, batch and number.
    private static func batch(_ author: Int, _ turn: Int) -> RecordBatch {
        var batch = RecordBatch()
        for index in 0...(author + turn) % 4 { batch.append(Array("\(author)/\(turn)/\(index)".utf8)) }
        return batch
    }

    @Test func `every batch gets numbers of its own, and a concurrent reader sees them all in order`() async throws {
        let tree = MemoryStorage()
        let writer = try LogWriter.open(tree, configuration: ConcurrencyTests.configuration())
        let (tasks, threads, turns) = (8, 3, 30)
        let total = (0..<tasks + threads).reduce(0) { sum, author in
            (0..<turns).reduce(sum) { $0 + ConcurrencyTests.batch(author, $1).count }
        }
        let reader = Thread { () throws -> [Int] in
            var count = 0
            var cursor = try LogReader.open(tree, showing: .written).cursor()
            while count < total {
                guard try cursor.nextFrame() else { continue }
                try must(
                    cursor.firstSequence.rawValue == UInt64(count) + 1, "\(cursor.firstSequence) follows @\(count)")
                count += cursor.recordCount
            }
            return [count]
        }
        let appending = (tasks..<tasks + threads).map { author in
            Thread { try (0..<turns).map { try ConcurrencyTests.append(author, $0, to: writer) } }
        }
        var ranges = try await withThrowingTaskGroup(of: [(String, SequenceRange)].self) { group in
            for author in 0..<tasks {
                group.addTask {
                    var given: [(String, SequenceRange)] = []
                    for turn in 0..<turns {
                        let durability: Durability = [.durable, .ordered, .buffered][turn % 3]
                        given.append(
                            (
                                "\(author)/\(turn)",
                                try await writer.commit(ConcurrencyTests.batch(author, turn), durability: durability)
                            ))
                    }
                    return given
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for thread in appending { ranges += try await thread.value }
        #expect(try await reader.value == [total])
        try ConcurrencyTests.check(ranges, in: tree, total: total)
        try writer.close()
    }

    private static func append(_ author: Int, _ turn: Int, to writer: LogWriter) throws -> (String, SequenceRange) {
        ("\(author)/\(turn)", try writer.append(batch(author, turn), durability: turn % 2 == 0 ? .durable : .buffered))
    }

    /// The ranges cover all numbers once, and each has the batch it was returned for.
    private static func check(_ ranges: [(String, SequenceRange)], in tree: MemoryStorage, total: Int) throws {
        let records = try StoryLog.records(tree)
        try must(records.count == total, "\(records.count) records of \(total)")
        var next: UInt64 = 1
        for (name, range) in ranges.sorted(by: { $0.1.first < $1.1.first }) {
            try must(range.first.rawValue == next, "\(range) follows @\(next - 1)")
            for number in range.first.rawValue...range.last.rawValue {
                let expected = "\(name)/\(number - range.first.rawValue)"
                try must(
                    records[number] == expected,
                    "@\(number) holds \(records[number] ?? "nothing") in place of \(expected)")
            }
            next = range.last.rawValue + 1
        }
    }

    @Test func `commits that wait together share one sync`() async throws {
        let storage = InterleavingStorage(MemoryStorage())
        let writer = try LogWriter.open(storage, configuration: ConcurrencyTests.configuration())
        let gate = Gate()
        storage.interrupt(after: 0) { gate.wait() }
        let before = writer.statistics.dataSyncs
        let line = CommitLine(writer)
        let first = Task { try await line.commit(RecordBatch([1])) }
        try await line.wait(for: 1)
        await gate.reached()
        let rest = (2...40).map { number in Task { try await line.commit(RecordBatch([UInt8(number)])) } }
        try await line.wait(for: 40)
        gate.open()
        var ranges = [try await first.value]
        for task in rest { ranges.append(try await task.value) }
        #expect(Set(ranges.map(\.first.rawValue)) == Set(1...40))
        #expect(writer.durableThrough.rawValue == 40)
        #expect(writer.statistics.dataSyncs - before == 2)
    }

    @Test func `a batch whose task is cancelled is stored anyway`() async throws {
        let storage = InterleavingStorage(MemoryStorage())
        let writer = try LogWriter.open(storage, configuration: ConcurrencyTests.configuration())
        let gate = Gate()
        storage.interrupt(after: 0) { gate.wait() }
        let line = CommitLine(writer)
        let inHand = Task { try await line.commit(RecordBatch([1])) }
        try await line.wait(for: 1)
        await gate.reached()
        let waiting = Task { try await line.commit(RecordBatch([2])) }
        try await line.wait(for: 2)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await line.commit(RecordBatch([3]))
        }
        try await line.wait(for: 3)
        inHand.cancel()
        waiting.cancel()
        gate.open()
        let ranges = [try await inHand.value, try await waiting.value, try await late.value]
        #expect(ranges.map(\.first.rawValue) == [1, 2, 3])
        #expect(try StoryLog.records(storage.base) == [1: "\u{1}", 2: "\u{2}", 3: "\u{3}"])
    }

    @Test func `a batch whose sync fails is refused to every task that waits for it`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let writer = try LogWriter.open(disk, configuration: ConcurrencyTests.configuration())
        disk.arm(FaultPlan(call: 1, of: [.sync, .open], persists: true))
        let codes = await withTaskGroup(of: LogError.Code?.self) { group in
            for number in 1...8 {
                group.addTask {
                    do throws(LogError) {
                        _ = try await writer.commit(RecordBatch([UInt8(number)]))
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == Array(repeating: LogError.Code.storageFailed, count: 8))
        #expect(writer.durableThrough == .none)
    }

    @Test func `an idle writer syncs ordered commits at once, and writes HEAD after a while`() throws {
        let disk = MemoryStorage(granularity: .sector)
        var configuration = ConcurrencyTests.configuration()
        configuration.syncsWhenIdle = true
        try LogWriter.open(disk, configuration: configuration).close()
        let lock = try #require(try disk.lock("LOCK"))
        let appender = try Appender(
            Recovery(disk, configuration, SimulationClock()).run(), storage: disk, configuration: configuration,
            clock: SimulationClock(), lock: lock)
        let idle = IdleSync(isOn: true)
        #expect(idle.start())
        #expect(!idle.start())
        let result = appender.append([Appender.Commit(batch: RecordBatch([1]), durability: .ordered)])
        #expect(try result[0].get().last == .first)
        let syncs = disk.counts.syncs
        #expect(idle.tick(appender))
        #expect(disk.counts.syncs == syncs + 1)
        #expect(disk.durableContents(of: StoryLog.segment1) == disk.contents(of: StoryLog.segment1))
        var looks = 1
        while idle.tick(appender) { looks += 1 }
        #expect(looks == 20)
        #expect(try LogCatalog.readHead(disk).head?.durableThrough == .first)
        #expect(idle.start())
    }
}

/// Blocks one thread until it is opened, and reports when the thread has arrived.
private final class Gate: Sendable {
    private let opening = DispatchSemaphore(value: 0)
    private let arrival = DispatchSemaphore(value: 0)

    func wait() {
        arrival.signal()
        opening.wait()
    }

    /// Waits, on a thread of its own, until a thread has arrived at the gate.
    func reached() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.arrival.wait()
                continuation.resume()
            }
        }
    }

    func open() { opening.signal() }
}

/// Lets tasks commit one after another, and counts them: a commit is in the writer's queue before it suspends, and
/// until then no other task has the actor.
private actor CommitLine {
    private let writer: LogWriter
    private var count = 0

    init(_ writer: LogWriter) { self.writer = writer }

    func commit(_ batch: RecordBatch) async throws(LogError) -> SequenceRange {
        count += 1
        return try await writer.commit(batch)
    }

    func wait(for wanted: Int) async throws {
        for _ in 0..<1_000_000 where count < wanted { await Task.yield() }
        try must(count >= wanted, "\(count) of \(wanted) commits arrived")
    }
}

/// A thread of its own, so that a blocking call does not delay anything else.
private struct Thread<Value: Sendable> {
    private let stream: AsyncThrowingStream<Value, any Error>

    init(_ body: @escaping @Sendable () throws -> Value) {
        let (stream, continuation) = AsyncThrowingStream<Value, any Error>.makeStream()
        self.stream = stream
        DispatchQueue(label: "ConcurrencyTests").async {
            do {
                continuation.yield(try body())
                continuation.finish()
            } catch { continuation.finish(throwing: error) }
        }
    }

    var value: Value {
        get async throws {
            for try await value in stream { return value }
            throw CancellationError()
        }
    }
}
