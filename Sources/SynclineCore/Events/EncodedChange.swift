// A change in an event's bytes, not yet decoded, and the change it decodes to.

import SynclineGround

/// A change whose parts are not decoded yet; they point into the event's bytes.
struct EncodedChange {
    var kind: OperationKind
    var flags: ChangeFlags
    var table: String
    var id: UnsafeRawBufferPointer
    var version: UnsafeRawBufferPointer?
    /// The row that another process saw.
    var seen: (shape: RowShape, values: UnsafeRawBufferPointer)?
    var shape: RowShape
    var values: UnsafeRawBufferPointer

    /// Whether it is a delete that cancelled a pending insert.
    var cancels: Bool { flags.contains(.cancels) }
}

extension EventReader {
    /// The bytes of the ids and values in a local event, which are not decoded.
    package mutating func valueBytes() throws(SyncError) -> Int {
        do throws(MalformedBytes) {
            _ = try transaction()
            var size = 0
            while !isAtEnd {
                let change = try encodedChange()
                size += change.id.count + change.values.count
            }
            return size
        } catch {
            throw .malformed("an event of kind \(kind.rawValue)")
        }
    }
}

extension LocalChange {
    init(_ encoded: EncodedChange) throws(MalformedBytes) {
        var reader = ByteReader(encoded.id)
        guard case .string(let id) = try reader.value() else { throw MalformedBytes() }
        self.init(kind: encoded.kind, table: encoded.table, id: id)
        columns = Row(shape: encoded.shape, bytes: [UInt8](encoded.values))
        replaces = encoded.flags.contains(.replaces)
        cancels = encoded.cancels
        isContested = encoded.flags.contains(.contested)
        seen = encoded.seen.map { Row(shape: $0.shape, bytes: [UInt8]($0.values)) }
        if let version = encoded.version {
            var reader = ByteReader(version)
            baseVersion = try reader.value()
        }
    }
}
