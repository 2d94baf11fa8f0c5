// Lists on the main actor, as an app shows them, while another task commits. A slow reader observes the same list, and a
// heartbeat measures how long the main actor was blocked at most.

import CBenchSupport
import Foundation
import Observation
import Syncline
import SynclineCore

struct ViewBench {
    let options: ViewOptions
    let directory: String

    /// Runs everything, and shows one line for each list.
    @MainActor
    func run(_ show: (ViewMeasurement) -> Void) async throws {
        let database = try await SyncDatabase.open(at: directory + "/store")
        let items = try database.table(ViewItem.self)
        try await fill(database)
        show(try await measure("none", database, nil, from: 0))
        show(try await measure("first 50", database, items.order(by: \.title).limit(50), from: options.commits))
        show(try await measure("whole table", database, items.query, from: 2 * options.commits))
        try await database.close()
    }

    /// - Parameter first: Commits write numbers after this one, which no row has yet.
    @MainActor
    private func measure(
        _ name: String, _ database: SyncDatabase, _ query: SyncQuery<ViewItem>?, from first: Int
    ) async throws -> ViewMeasurement {
        let before = resetPeakMemory()
        let list = query.map { LiveQuery($0) }
        let slow = SlowReader()
        let reading = try query.map { try slow.follow($0) }
        while list.map({ !$0.isLoaded }) ?? false { await Task.yield() }
        let updates = UpdateCount(list)
        let heartbeat = Heartbeat()
        let (start, end) = try await commit(database, from: first)
        var shown = monotonicNanoseconds()
        if let list {
            while !list.models.contains(where: { $0.count == first + options.commits }) {
                try await Task.sleep(for: .milliseconds(1))
            }
            shown = monotonicNanoseconds()
        }
        let stall = heartbeat.stop()
        reading?.cancel()
        return ViewMeasurement(
            list: name, commits: options.commits, seconds: Double(end - start) / 1e9, updates: updates.count,
            slowUpdates: slow.count, delayMilliseconds: Double(shown - end) / 1e6,
            stallMilliseconds: Double(stall) / 1e6, memoryMebibytes: Double(max(0, peakMemory() - before)) / 1_048_576)
    }

    /// Each commit changes one row; the last one changes the first row of the list.
    @concurrent
    private func commit(_ database: SyncDatabase, from first: Int) async throws -> (start: UInt64, end: UInt64) {
        var random = SplitMix64(seed: 5)
        let table = try database.table(ViewItem.self)
        let start = monotonicNanoseconds()
        for number in 1...options.commits {
            let row = number == options.commits ? 0 : 1 + Int(random.below(UInt64(options.rows - 1)))
            try await table.update(id: ViewItem.id(row)) { $0.count = first + number }
        }
        return (start, monotonicNanoseconds())
    }

    @concurrent
    private func fill(_ database: SyncDatabase) async throws {
        try await database.declareIndex(table: "item", column: "title")
        for first in stride(from: 0, to: options.rows, by: 1000) {
            try await database.transaction { transaction in
                for number in first..<min(first + 1000, options.rows) {
                    try transaction.insert(
                        "item", id: ViewItem.id(number),
                        columns: SynclineCore.Row([
                            .init("title", .string(ViewItem.title(number))), .init("done", .bool(number % 3 == 0)),
                            .init("count", .integer(0)),
                        ]))
                }
            }
        }
        try await database.checkpoint()
    }
}

private struct ViewItem: SyncModel {
    static let table = "item"
    var id: String
    var title: String
    var done: Bool
    var count: Int

    static func id(_ number: Int) -> String { "item-\(number)" }

    /// In the order of the numbers.
    static func title(_ number: Int) -> String { "Buy \(10_000_000 + number) of something" }
}

/// Counts how often a list is replaced.
@MainActor
private final class UpdateCount {
    private let list: LiveQuery<ViewItem>?
    private(set) var count = 0

    init(_ list: LiveQuery<ViewItem>?) {
        self.list = list
        watch()
    }

    private func watch() {
        guard let list else { return }
        withObservationTracking {
            _ = list.models.count
        } onChange: {
            Task { @MainActor in
                self.count += 1
                self.watch()
            }
        }
    }
}

/// Takes a list, and takes no other for 200 ms.
@MainActor
private final class SlowReader {
    private(set) var count = 0

    func follow(_ query: SyncQuery<ViewItem>) throws -> Task<Void, any Error> {
        let lists = try query.observe()
        return Task {
            for try await _ in lists {
                count += 1
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }
}

/// Asks for the main actor each millisecond, from a thread of its own, and notes how long it had to wait.
@MainActor
private final class Heartbeat {
    private var longest: UInt64 = 0
    private let thread: Thread

    init() {
        let beat = Beat()
        thread = Thread {
            while !Thread.current.isCancelled {
                let asked = monotonicNanoseconds()
                Task { @MainActor in beat.heartbeat?.note(monotonicNanoseconds() - asked) }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        beat.heartbeat = self
        thread.start()
    }

    private func note(_ time: UInt64) { longest = max(longest, time) }

    /// Ends it; returns the longest wait in nanoseconds.
    func stop() -> UInt64 {
        thread.cancel()
        return longest
    }
}

/// Leads from the thread to the heartbeat, as long as that exists.
@MainActor
private final class Beat {
    weak var heartbeat: Heartbeat?
}
