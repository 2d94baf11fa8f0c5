// Waits for signals, and waits that end without one.

import Dispatch
import SynclineGround
import Testing

@testable import SynclineServer

@Suite struct TimedSemaphoreTests {
    @Test func `a wait takes one signal, and ends without one after its limit`() {
        let semaphore = TimedSemaphore(value: 1)
        #expect(semaphore.wait(atMost: .zero))
        #expect(!semaphore.wait(atMost: .zero) && !semaphore.wait(atMost: .milliseconds(1)))
        semaphore.signal()
        semaphore.signal()
        #expect(semaphore.wait(atMost: .seconds(60)) && semaphore.wait(atMost: .nanoseconds(1)))
        #expect(!semaphore.wait(atMost: .zero))
    }

    @Test func `each of many waiting threads gets a signal`() {
        let semaphore = TimedSemaphore(value: 0)
        let taken = Atomic(0)
        let group = DispatchGroup()
        for number in 0..<8 {
            DispatchQueue(label: "waits.\(number)").async(group: group) {
                for _ in 0..<200 where semaphore.wait(atMost: .seconds(3600)) { taken.add(1, ordering: .relaxed) }
            }
        }
        for _ in 0..<1600 { semaphore.signal() }
        group.wait()
        #expect(taken.load(ordering: .relaxed) == 1600 && !semaphore.wait(atMost: .zero))
    }
}
