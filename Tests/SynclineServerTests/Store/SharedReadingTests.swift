// A value that all threads read and that one changes.

import Dispatch
import SynclineGround
import Testing

@testable import SynclineServer

@Suite struct SharedReadingTests {
    @Test func `when a change has returned, every thread reads it`() {
        let shared = SharedReading(0)
        for number in 1...50 {
            shared.change { $0 += 1 }
            let wrong = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                if shared.value != number { wrong.add(1, ordering: .relaxed) }
            }
            #expect(wrong.load(ordering: .relaxed) == 0)
        }
    }

    @Test func `no change is lost when many come at once`() {
        let shared = SharedReading(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<100 { shared.change { $0 += 1 } }
        }
        #expect(shared.value == 800)
    }
}
