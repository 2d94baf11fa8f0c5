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

    @Test func `a carried change that is older than others is in the outbox before them`() throws {
        func insert(_ id: String) -> Event {
            let change = LocalChange(kind: .insert, table: "t", id: id, columns: .empty)
            return Event(time: 0, .local(LocalTransaction([change], isGrouped: false)))
        }
        // The events that made it are lost.
        let before = try Projector()
        try before.apply(insert("a"), number: 3)
        let rows = try before.reader(of: before.store.snapshot).carriedRows(through: 3)
        let fold = RescueFold(try Projector())
        for (number, event) in [(12, insert("b")), (20, Event(time: 0, .carried(through: 11, rows)))] {
            try event.bytes.withBytes { (record: UnsafeRawBufferPointer) throws(SyncError) in
                try fold.fold(record, number: UInt64(number))
            }
        }
        var found: [UInt64] = []
        let reader = fold.projector.reader(of: fold.projector.store.snapshot)
        try reader.forEachChange { position, _ in
            found.append(position.event)
            return true
        }
        #expect(fold.leftOut.isEmpty && found == [3, 12])
    }
}
