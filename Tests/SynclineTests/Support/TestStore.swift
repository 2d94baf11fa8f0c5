// A store on a simulated disk, with a deterministic clock and ids.

import Foundation
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

final class CountedEnvironment: SyncEnvironment {
    private let count = Atomic<Int64>(0)

    func now() -> Date { Date(milliseconds: next()) }
    func newID() -> String { "ID-\(next())" }

    private func next() -> Int64 { count.add(1, ordering: .relaxed).newValue }
}

extension SyncConfiguration {
    /// Small enough that checkpoints are made and merged all the time.
    static func test(memory: UInt64 = 16 << 20) -> SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.environment = CountedEnvironment()
        configuration.memoryLimit = ByteCount(rawValue: memory)
        configuration.log.segmentSize = .kibibytes(64)
        configuration.log.zeroAhead = .kibibytes(16)
        configuration.log.syncsWhenIdle = false
        return configuration
    }
}

extension Value {
    /// An item for a table.
    static func item(_ id: String, _ columns: [String: Value]) -> Value {
        .object([.init("id", .string(id))] + columns.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }
}

extension Row {
    var dictionary: [String: Value] {
        Dictionary(members.map { ($0.name, $0.value) }) { $1 }
    }
}

extension SyncDatabase {
    /// Every row of every table, by table and id.
    func allRows() async throws(SyncError) -> [String: [String: Value]] {
        var all: [String: [String: Value]] = [:]
        for name in try await tables() {
            for row in try await rows(of: name).query(RowQuery(table: name)).rows {
                all["\(name)/\(row.id)"] = row.columns.dictionary
            }
        }
        return all
    }

    /// Stores a row as a server sent it that knows no types: its text is a number.
    func pull(text: Int64, id: String, of table: String) async throws(SyncError) {
        let row = Row([
            .init("text", .integer(text)), .init("causeID", .string("")), .init("version", .string("1")),
        ])
        try await pull(PulledPage(table: table, queryID: nil, rows: [.init(id: id, row: row)], cursor: nil))
    }

    /// A page from a server.
    func pull(_ page: PulledPage) async throws(SyncError) {
        try await perform { engine throws(SyncError) in _ = try engine.record(.page(page)) }
    }
}

/// The parts of a state that are compared.
struct StateImage: Equatable {
    var contents: [[UInt8]: [UInt8]] = [:]
    var digest: Digest
    var totals: ChangeCounts
    var through: UInt64

    init(_ projector: Projector) throws {
        digest = projector.store.digest
        totals = projector.totals
        through = projector.through
        contents = try StateImage.contents(projector.store.snapshot)
    }

    static func contents(_ snapshot: StateSnapshot) throws -> [[UInt8]: [UInt8]] {
        var contents: [[UInt8]: [UInt8]] = [:]
        try snapshot.forEach(from: []) { key, value in
            contents[[UInt8](key)] = [UInt8](value)
            return true
        }
        return contents
    }

    /// The state folded from the whole log; that from checkpoints must be the same, to the byte.
    static func check(_ storage: any LogStorage, _ comment: String) throws -> StateImage {
        let folded = try StateImage(StateLoader(storage).load(usingCheckpoints: false))
        let loaded = try StateImage(StateLoader(storage).load())
        // Compared before `#expect`: a difference would be printed byte by byte.
        let isSame = folded == loaded
        try #require(isSame, "\(comment)")
        return folded
    }
}
