// What a store keeps beside its log, on a disk that loses power and fails calls: the token and the headers, which
// are acknowledged, and the recording of traffic, which is not.

import SegmentLog
import Syncline
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct SecretsTests {
    @Test func `a token survives any power loss`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try StoreSecrets(disk).set("token", .string("old"))
        try StoreSecrets(disk).set("token", .string("new"))
        let count = disk.pendingItemCount
        for subset in 0..<1 << count {
            let crashed = disk.crash { subset >> $0 & 1 == 1 }
            #expect(try StoreSecrets(crashed).read().map(\.value) == [.string("new")])
            #expect(try crashed.names(in: "") == ["secrets.json"])
        }
    }

    @Test func `a token that could not be set leaves the old one, and says why`() throws {
        var call = 1
        while true {
            let disk = MemoryStorage(granularity: .sector)
            try StoreSecrets(disk).set("token", .string("old"))
            disk.arm(
                FaultPlan(call: call, of: [.open, .write, .sync, .rename, .syncDirectory], fault: .error(.diskFull)))
            do {
                try StoreSecrets(disk).set("token", .string("new"))
                if disk.counts.faults == 0 { break }
                Issue.record("call \(call) was refused, and no error was reported")
            } catch {
                #expect(ToolError(error)?.code == "disk-full", "call \(call)")
            }
            disk.disarm()
            #expect(try disk.names(in: "") == ["secrets.json"])
            var chance = Chance(seed: UInt64(call))
            for _ in 0..<4 {
                let left = try StoreSecrets(disk.crash(using: &chance)).read().map(\.value)
                #expect(left == [.string("old")] || left == [.string("new")], "call \(call)")
            }
            call += 1
        }
        #expect(call > 5)
    }

    @Test func `a recording that lost power or room has only lines that were recorded, in order`() throws {
        for seed in UInt64(1)...200 {
            var chance = Chance(seed: seed)
            let disk = MemoryStorage(granularity: .sector)
            disk.arm(FaultPlan(call: 1 + chance.below(60), fault: .partialWrite(chance.below(40), .diskFull)))
            let isBounded = chance.once(in: 2)
            let recording = TrafficRecording("traffic.jsonl", in: disk, limit: .bytes(isBounded ? 2048 : 1 << 20))
            let count = Int64(1 + chance.below(80))
            for number in 0..<count { recording.note(.object([.init("number", .integer(number))])) }
            func numbers(_ storage: any LogStorage) throws -> [Int64] {
                try TrafficRecording.read("traffic.jsonl", in: storage).map { line in
                    guard case .integer(let number)? = line[member: "number"] else { throw NotRecorded() }
                    return number
                }
            }
            let before = try numbers(disk)
            #expect(isBounded || before.count >= count - 1, "seed \(seed)")
            for left in [before, try numbers(disk.crash(using: &chance))] {
                #expect(zip(left, left.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
                #expect(left.allSatisfy { (0..<count).contains($0) }, "seed \(seed)")
            }
        }
    }

    private struct NotRecorded: Error {}
}
