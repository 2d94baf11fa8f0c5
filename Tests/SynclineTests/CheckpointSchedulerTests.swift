// When the newest changes become a checkpoint.

import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineCore

@Suite struct CheckpointSchedulerTests {
    private let job: CheckpointJob
    private var scheduler = CheckpointScheduler(memoryLimit: 100)

    init() throws {
        job = CheckpointJob(
            log: try LogWriter.open(MemoryStorage(), creating: .ifMissing), isWhole: false, layers: StateLayers(),
            through: 0, totals: ChangeCounts(), digest: Digest(), retention: .everything)
    }

    private mutating func step(_ size: Int, isCovered: Bool = false, hasWaited: Bool = false) -> String {
        let step = scheduler.step(size: size, isCovered: isCovered, hasWaited: hasWaited)
        return String(describing: step).prefix { $0 != "(" }.description
    }

    @Test mutating func `a checkpoint begins above the limit, unless one covers the last event`() {
        #expect(step(100) == "nothing")
        #expect(step(101, isCovered: true) == "nothing")
        #expect(step(101) == "begin")
    }

    @Test mutating func `a second one waits for the first, only when twice the memory is used`() {
        scheduler.begin(job)
        #expect(scheduler.isWriting && scheduler.job != nil)
        #expect(step(200) == "nothing")
        #expect(step(201) == "wait")
        #expect(step(201, hasWaited: true) == "nothing")
        scheduler.end(.success([]))
        #expect(!scheduler.isWriting && scheduler.job == nil)
        #expect(step(201, hasWaited: true) == "install")
        #expect(step(201, hasWaited: true) == "begin")
    }

    @Test mutating func `a failed one is tried again, and then after each quarter of the limit`() {
        scheduler.begin(job)
        for size in [150, 175, 200] {
            scheduler.end(.failure(SyncError(.ioError, "")))
            #expect(scheduler.failure != nil && scheduler.job != nil)
            #expect(step(size, hasWaited: true) == "nothing")
            #expect(step(size) == "retry")
            #expect(scheduler.failure == nil && scheduler.isWriting)
            scheduler.end(.failure(SyncError(.ioError, "")))
            #expect(step(size + 24) == (size + 24 > 200 ? "wait" : "nothing"))
        }
        scheduler.reset()
        #expect(scheduler.job == nil && step(101) == "begin")
    }
}
