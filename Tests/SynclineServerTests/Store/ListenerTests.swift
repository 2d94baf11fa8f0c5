// The store's listener: each call of it takes the same memory, however many there were before.

import SynclineGround
import Testing

@testable import SynclineServer

@Suite struct ListenerTests {
    @Test func `a listener is called directly, however often it was called before`() throws {
        let store = try ServiceDesk().store
        let places = Mutex<[UInt]>([])
        store.listen {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { byte in
                let place = UInt(bitPattern: byte.baseAddress)
                places.withLock { $0.append(place) }
            }
        }
        for _ in 0..<1000 { store.tellListener() }
        let all = places.withLock { $0 }
        #expect(all.count == 1000)
        // The stack is as deep at the end as at first.
        #expect(try #require(all.max()) - (try #require(all.min())) < 1024)
        store.close()
    }
}
