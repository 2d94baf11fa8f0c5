// A rescue leaves out events that are not valid, and no event because the state could not be read.

import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct RescueFoldTests {
    private func fold(failing error: SyncError) throws(SyncError) -> RescueFold {
        let fold = RescueFold(try Projector())
        fold.afterPart = { _ throws(SyncError) in throw error }
        let change = LocalChange(kind: .insert, table: "t", id: "a", columns: .empty)
        let bytes = Event(time: 0, .local(LocalTransaction([change], isGrouped: false))).bytes
        try bytes.withBytes { (record: UnsafeRawBufferPointer) throws(SyncError) in try fold.fold(record, number: 1) }
        return fold
    }

    @Test func `an event that is not valid is left out`() throws {
        #expect(try fold(failing: .malformed("a change")).leftOut == [1])
    }

    @Test func `a damaged file of the state is an error, and leaves out no event`() {
        let damage = SyncError(.storeCorrupt, "the checksum of a block is wrong", address: "a.checkpoint")
        #expect(throws: damage) { try fold(failing: damage) }
    }
}
