// A worker process: one engine on one directory, driven by commands on standard input, one JSON value a line. A process
// each keeps the engines' memory, caches and background threads apart, and lets one be killed in the middle.

import CBenchSupport
import Foundation

enum Command: Codable, Sendable {
    /// Makes the records; peak memory is counted from here.
    case generate(count: Int)
    case open(Durability)
    case append(AppendJob)
    /// Opens the store as a writer does and reads one record.
    case openAndReadFirst
    /// Opens the log as a writer does, nothing more.
    case recover
    /// Reads everything, the store opened for reading only.
    case scan
    /// Opens a live store to follow it.
    case openToFollow
    /// Follows it until as many records were seen as a file says at last, or the time is up.
    case follow(countFile: String, seconds: Double)
    case close
}

struct Reply: Codable, Sendable {
    var failure: String?
    var outcome: AppendOutcome?
    var totals: ScanTotals?
    var seconds = 0.0
    /// Calls of fsync and fdatasync while the command ran.
    var syncCalls: UInt64 = 0
    /// The peak of resident memory above what the records took.
    var peakMemory = 0
    /// The engine's own counts while the command ran.
    var own = OwnCounts()
}

struct Worker {
    private let name: EngineName
    private let directory: String
    private var records = RecordSet(count: 0)
    private var engine: (any Engine)?
    private var follower: (any Follower)?
    private var memoryBefore = 0

    init(_ name: EngineName, _ directory: String) {
        self.name = name
        self.directory = directory
        memoryBefore = resetPeakMemory()
    }

    /// Answers commands until standard input ends; then the process ends as if killed, without closing anything.
    mutating func serve() async {
        cbench_die_with_parent()
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        while let line = readLine() {
            var reply = Reply()
            do {
                let command = try decoder.decode(Command.self, from: Data(line.utf8))
                reply = try await answer(command)
            } catch {
                reply.failure = "\(error)"
            }
            guard let data = try? encoder.encode(reply) else { break }
            FileHandle.standardOutput.write(data + [0x0a])
        }
        _exit(0)
    }

    private mutating func answer(_ command: Command) async throws -> Reply {
        var reply = Reply()
        let before = engine?.ownCounts
        let syncsBefore = cbench_sync_calls()
        let start = monotonicNanoseconds()
        switch command {
        case .generate(let count):
            records = RecordSet(count: count)
            memoryBefore = resetPeakMemory()
        case .open(let durability): engine = try name.open(directory, durability)
        case .append(let job):
            guard let engine else { throw BenchError("nothing is open") }
            let outcome = try await AppendRun(engine, records, job).run()
            reply.outcome = outcome
        case .openAndReadFirst:
            let engine = try name.open(directory, .durable)
            guard try engine.readFirst() > 0 else { throw BenchError("the store came back empty") }
            self.engine = engine
        case .recover: try name.recover(directory)
        case .scan where name == .floor: reply = try FloorScan(records).run()
        case .scan: reply.totals = try name.openForReading(directory).scan()
        case .openToFollow: follower = try name.follow(directory)
        case .follow(let countFile, let seconds): reply.outcome = try follow(countFile, seconds)
        case .close:
            try engine?.close()
            engine = nil
        }
        if reply.seconds == 0 { reply.seconds = Double(monotonicNanoseconds() - start) / 1e9 }
        reply.syncCalls = cbench_sync_calls() - syncsBefore
        reply.peakMemory = max(0, peakMemory() - memoryBefore)
        if let after = engine?.ownCounts, let before { reply.own = after.since(before) }
        return reply
    }

    /// The lag of a record is the time from just before its commit to its arrival here.
    private func follow(_ countFile: String, _ seconds: Double) throws -> AppendOutcome {
        guard let follower else { throw BenchError("cannot be followed") }
        var outcome = AppendOutcome()
        let start = monotonicNanoseconds()
        var first: UInt64?
        var now = start
        var count: Int?
        while outcome.records < count ?? .max, Double(now - start) < seconds * 1e9 {
            let seen = try follower.poll { record in
                let arrival = monotonicNanoseconds()
                outcome.latency.add(arrival - min(arrival, RecordSet.stamp(of: record)))
            }
            now = monotonicNanoseconds()
            if seen == 0 {
                count = contents(of: countFile).flatMap { Int($0) }
                usleep(50)
            } else {
                first = first ?? now
                outcome.records += seen
                outcome.commits += 1
                outcome.seconds = Double(now - (first ?? now)) / 1e9
            }
        }
        return outcome
    }
}

extension OwnCounts {
    func since(_ earlier: OwnCounts) -> OwnCounts {
        func difference(_ path: KeyPath<OwnCounts, UInt64?>) -> UInt64? {
            self[keyPath: path].flatMap { now in earlier[keyPath: path].map { now - $0 } }
        }
        return OwnCounts(dataSyncs: difference(\.dataSyncs), bytesWritten: difference(\.bytesWritten))
    }
}
