// A worker process with one store on one directory, driven like the workers of the log's benchmark.

import CBenchSupport
import Foundation

enum StoreCommand: Codable, Sendable {
    /// Makes the rows; peak memory is counted from here.
    case generate(count: Int, isOrdered: Bool)
    case open(Durability)
    /// Inserts rows in transactions of `batch` rows, until there are no more or the time is over.
    case insert(first: Int, count: Int, batch: Int, secondsAtMost: Double)
    /// Reads rows by ids chosen at random.
    case get(count: Int)
    /// Runs a filter a number of times.
    case filter(times: Int)
    case index
    /// Asks the index for tags chosen at random.
    case find(count: Int)
    /// Makes the indexes of the lists.
    case indexLists
    /// Asks a question a number of times, each time from another place.
    case ask(ListQuestion, times: Int)
    /// Observes lists until the process ends.
    case observe(lists: Int)
    case plan(times: Int)
    case close
}

struct StoreReply: Codable, Sendable {
    var failure: String?
    /// Commits, reads, or questions.
    var steps = 0
    /// Rows inserted or returned, or operations planned.
    var rows = 0
    var seconds = 0.0
    var latency = Histogram()
    var syncCalls: UInt64 = 0
    var peakMemory = 0

    /// Times one step, and counts its rows.
    fileprivate mutating func time(_ body: () async throws -> Int) async rethrows {
        let start = monotonicNanoseconds()
        rows += try await body()
        let time = monotonicNanoseconds() - start
        latency.add(time)
        seconds += Double(time) / 1e9
        steps += 1
    }
}

struct StoreWorker: Sendable {
    private let name: StoreName
    private let directory: String
    private var rows: TodoRows?
    private var store: (any Store)?
    private var memoryBefore = 0

    init(_ name: StoreName, _ directory: String) {
        self.name = name
        self.directory = directory
    }

    /// Answers commands until standard input ends; then the process ends as if killed. It leaves the main thread: an app
    /// that writes from there pays for switching to another thread and back.
    @concurrent
    mutating func serve() async {
        cbench_die_with_parent()
        memoryBefore = resetPeakMemory()
        while let line = readLine() {
            var reply = StoreReply()
            do {
                let command = try JSONDecoder().decode(StoreCommand.self, from: Data(line.utf8))
                let syncsBefore = cbench_sync_calls()
                try await answer(command, &reply)
                reply.syncCalls = cbench_sync_calls() - syncsBefore
                reply.peakMemory = max(0, peakMemory() - memoryBefore)
            } catch {
                reply.failure = "\(error)"
            }
            guard let data = try? JSONEncoder().encode(reply) else { break }
            FileHandle.standardOutput.write(data + [0x0a])
        }
        _exit(0)
    }

    private mutating func answer(_ command: StoreCommand, _ reply: inout StoreReply) async throws {
        switch command {
        case .generate(let count, let isOrdered):
            rows = TodoRows(count: count, isOrdered: isOrdered)
            memoryBefore = resetPeakMemory()
        case .open(let durability):
            let (name, directory) = (name, directory)
            var opened: (any Store)?
            try await reply.time {
                opened = try await name.open(directory, durability)
                return 1
            }
            store = opened
        default:
            guard let store else { throw BenchError("nothing is open") }
            try await perform(command, store, &reply)
        }
    }

    private func perform(_ command: StoreCommand, _ store: any Store, _ reply: inout StoreReply) async throws {
        switch command {
        case .insert(let first, let count, let batch, let secondsAtMost):
            guard let rows else { throw BenchError("no rows") }
            for start in stride(from: first, to: first + count, by: batch) where reply.seconds < secondsAtMost {
                let range = start..<min(start + batch, first + count)
                try await reply.time {
                    try await store.insert(rows, range)
                    return range.count
                }
            }
        case .get(let count):
            guard let rows else { throw BenchError("no rows") }
            var random = SplitMix64(seed: 7)
            for _ in 0..<count {
                let index = random.below(UInt64(rows.count))
                try await reply.time { try await store.get(rows, index) > 0 ? 1 : 0 }
            }
        case .filter(let times):
            for _ in 0..<times { try await reply.time { try await store.filter() } }
        case .index:
            try await reply.time {
                try await store.index(); return 0
            }
        case .find(let count):
            guard let rows else { throw BenchError("no rows") }
            var random = SplitMix64(seed: 8)
            for _ in 0..<count {
                let tag = rows[random.below(UInt64(rows.count))].tag
                try await reply.time { try await store.find(tag: tag) }
            }
        case .indexLists:
            try await reply.time {
                try await store.indexLists(); return 0
            }
        case .ask(let question, let times):
            guard let rows else { throw BenchError("no rows") }
            var random = SplitMix64(seed: 9)
            for _ in 0..<times {
                let index = random.below(UInt64(rows.count))
                let place = ListPlace(
                    due: rows[index].due, id: rows.ids[index], key: rows.key(index), tag: rows[index].tag)
                try await reply.time { try await store.ask(question, place) }
            }
        case .observe(let lists):
            guard let store = store as? SynclineStore else { throw BenchError("no live lists") }
            try await store.observe(lists: lists)
        case .plan(let times):
            for _ in 0..<times { try await reply.time { try await store.plan() } }
        case .close:
            try await reply.time {
                try await store.close(); return 0
            }
        case .generate, .open: break
        }
    }
}
