// One store of the simulation: its disk, what it acknowledged, and what was known about it when it ended.

import Foundation
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting

@testable import Syncline

/// A deterministic clock and ids, which continue when the store is opened again.
final class SimulatedEnvironment: SyncEnvironment {
    private let name: String
    private let count = Mutex<Int64>(0)

    init(_ name: String) {
        self.name = name
    }

    func now() -> Date { Date(milliseconds: next()) }

    func newID() -> String { "\(name)-\(next())" }

    func wait(for duration: Duration) async throws { try Task.checkCancellation() }

    func chance() -> Double { Double(next() % 7) / 7 }

    private func next() -> Int64 {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

struct SyncClient {
    let number: Int
    let environment: SimulatedEnvironment
    var disk = MemoryStorage(granularity: .sector)
    var database: SyncDatabase?
    /// The numbers that identify the changes of each acknowledged event.
    var acknowledged: [UInt64: Set<Int64>] = [:]
    /// The states after events that were looked at.
    var known: [UInt64: Digest] = [:]
    /// The last event that must exist in any case.
    var durable: UInt64 = 0
    /// Whether the store ended in the middle of a call.
    var hasEnded = false
    /// The operation that was in flight when it ended.
    var onItsWay: (table: String, id: String, operationID: String)?
    var trouble = SyncTrouble()
    var chance = Chance(seed: 0)
    var requests = 0

    init(_ number: Int) {
        self.number = number
        environment = SimulatedEnvironment("C\(number)")
    }

    /// What the app sees of a table, as the server would return it.
    func rows(of table: String, _ filter: FilterExpression?) async throws -> [String: [String: Value]] {
        var query = RowQuery(table: table)
        query.filter = filter
        var rows: [String: [String: Value]] = [:]
        for row in try await database?.rows(of: table).query(query).rows ?? [] {
            rows[row.id.lowercased()] = row.columns.dictionary.wireForm
        }
        return rows
    }
}

extension [String: Value] {
    /// Columns that can be compared with the server's: without nulls, dates as strings.
    var wireForm: [String: Value] {
        filter { !$0.value.isNull }.mapValues { value in
            if case .date(let date) = value { return .string(date.description) }
            return value
        }
    }
}
