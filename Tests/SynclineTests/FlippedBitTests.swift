// A flipped bit costs at most the record that it hits, wherever it is in a store.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite(.timeLimit(.minutes(60))) struct FlippedBitTests {
    /// With SYNCLINE_SEEDS, every bit of every byte is flipped; else one bit of every byte.
    private static let bits = ProcessInfo.processInfo.environment["SYNCLINE_SEEDS"] == nil ? 1 : 8

    /// A store of forty commits of one row after a compaction.
    private static func store() async throws -> MemoryStorage {
        let storage = MemoryStorage()
        var configuration = SyncConfiguration.test()
        configuration.log.zeroAhead = .bytes(0)
        let database = try await SyncDatabase.open(storage, configuration)
        let table = database.rows(of: "todos")
        for number in 0..<20 { try await table.insert(.item("old\(number)", ["text": "write the report"])) }
        try await database.compact()
        for number in 0..<40 {
            try await table.insert(.item("new\(number)", ["text": .string("call the school about no. \(number)")]))
        }
        try await database.close()
        return storage
    }

    @Test(arguments: [FileName.segmentSuffix, FileName.checkpointSuffix, FileName.head])
    func `a flipped bit costs at most the record that it hits`(suffix: String) async throws {
        let storage = try await FlippedBitTests.store()
        let whole = try LogVerification(storage).run()
        #expect(whole.isHealthy && whole.records > 60)
        // The first commit has three records: the opening, and two settings.
        let first = SequenceRange(first: .first, count: 3)
        var flips = 0
        for name in storage.allNames().files where name.hasSuffix(suffix) {
            let bytes = try #require(storage.contents(of: name))
            for place in bytes.indices {
                for bit in 0..<FlippedBitTests.bits {
                    var flipped = bytes
                    flipped[place] ^= 1 << UInt8((place + bit) % 8)
                    storage.setContents(flipped, of: name)
                    let ranges = try SalvageReading(storage).lost
                    let lost = ranges.reduce(0) { $0 + $1.count }
                    #expect(lost <= 1 || ranges == [first], "\(name) byte \(place): \(ranges)")
                    let records = try LogVerification(storage).run().records
                    #expect(records == whole.records - lost, "\(name) byte \(place)")
                    flips += 1
                }
            }
            storage.setContents(bytes, of: name)
        }
        #expect(flips > 1000)
    }
}
