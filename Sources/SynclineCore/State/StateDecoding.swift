// Decodes rows, changes and shapes of the state.

import SynclineGround

extension UnsafeRawBufferPointer {
    /// Decodes a value of the state; an error calls it by this name.
    @inline(__always)
    func decoded<Content>(
        as name: String, _ decode: (inout ByteReader) throws(MalformedBytes) -> Content
    ) throws(SyncError) -> Content {
        var reader = ByteReader(self)
        do throws(MalformedBytes) { return try decode(&reader) } catch { throw .malformed(name) }
    }
}

extension RowEntry {
    package init(_ bytes: UnsafeRawBufferPointer, _ shapes: ShapeTable) throws(SyncError) {
        var reader = ByteReader(bytes)
        do throws(MalformedBytes) { self = try reader.entry(shapes) } catch { throw .malformed("a row of the state") }
    }

    package init(_ value: StateValue, _ shapes: ShapeTable) throws(SyncError) {
        self = try value.withBytes { bytes throws(SyncError) in try RowEntry(bytes, shapes) }
    }
}

extension JournalEntry {
    package init(_ value: StateValue, _ shapes: ShapeTable) throws(SyncError) {
        self = try value.withBytes { bytes throws(SyncError) in try JournalEntry(bytes, shapes) }
    }

    package init(_ bytes: UnsafeRawBufferPointer, _ shapes: ShapeTable) throws(SyncError) {
        self = try bytes.decoded(as: "a change in the outbox") { reader throws(MalformedBytes) in
            try JournalEntry(&reader, shapes)
        }
    }
}

extension ShapeTable {
    /// The shapes of a state.
    convenience init(reading snapshot: StateSnapshot) throws(SyncError) {
        self.init()
        var key = ByteWriter()
        key.append(Keyspace.shapes)
        try snapshot.forEach(prefix: key.bytes) { _, value throws(SyncError) in
            do throws(MalformedBytes) {
                _ = add(try RowShape(encodedNames: value))
            } catch {
                throw .malformed("a shape")
            }
            return true
        }
    }
}
