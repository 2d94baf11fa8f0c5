// A change's position in the log, which is its place in the outbox.

package import SynclineGround

/// The place of a change: its event and its index in the event. Positions order the outbox.
package struct Position: Hashable, Comparable, Sendable {
    package var event: UInt64
    package var index: UInt32

    package init(event: UInt64, index: UInt32 = 0) {
        self.event = event
        self.index = index
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.event, left.index) < (right.event, right.index)
    }

    /// Calls `body` with the key of the change here.
    func withJournalKey<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: 13, alignment: 8) { key in
            key.storeBytes(of: Keyspace.journal, as: UInt8.self)
            key.storeBytes(of: event.bigEndian, toByteOffset: 1, as: UInt64.self)
            key.storeBytes(of: index.bigEndian, toByteOffset: 9, as: UInt32.self)
            return body(UnsafeRawBufferPointer(key))
        }
    }

    /// After every change of an event: where the event stores what applies to all of them.
    static func end(of event: UInt64) -> Position { Position(event: event, index: .max) }
}

extension ByteWriter {
    package mutating func append(position: Position) {
        append(varint: position.event)
        append(varint: UInt64(position.index))
    }
}

extension ByteReader {
    package mutating func position() throws(MalformedBytes) -> Position {
        let event = try varint()
        let index = try varint()
        guard index <= UInt64(UInt32.max) else { throw MalformedBytes() }
        return Position(event: event, index: UInt32(index))
    }
}
