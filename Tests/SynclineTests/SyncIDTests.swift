// Ids that sort by the time they were made.

import Syncline
import Testing

@Suite struct SyncIDTests {
    @Test func `ids made one after another are in order, and no two are equal`() {
        let ids = (0..<10_000).map { _ in SyncID.make() }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `an id is a UUID of version 7`() {
        let digits = Array(SyncID.make())
        #expect(digits.count == 36 && digits[14] == "7" && "89AB".contains(digits[19]))
        #expect(SyncID.uuid() != SyncID.uuid())
    }
}
