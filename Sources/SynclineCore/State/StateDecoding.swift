// Decodes rows, changes and shapes of the state.

import SynclineGround

extension RowEntry {
    package init(_ bytes: UnsafeRawBufferPointer, _ shapes: ShapeTable) throws(StateError) {
        var reader = ByteReader(bytes)
        do throws(MalformedBytes) { self = try reader.entry(shapes) } catch { throw .malformed("a row of the state") }
    }
}

extension RowEntry {
    package init(_ value: StateValue, _ shapes: ShapeTable) throws(StateError) {
        self = try value.withBytes { bytes throws(StateError) in try RowEntry(bytes, shapes) }
    }
}

extension JournalEntry {
    package init(_ value: StateValue, _ shapes: ShapeTable) throws(StateError) {
        self = try value.withBytes { bytes throws(StateError) in try JournalEntry(bytes, shapes) }
    }

    package init(_ bytes: UnsafeRawBufferPointer, _ shapes: ShapeTable) throws(StateError) {
        var reader = ByteReader(bytes)
        do throws(MalformedBytes) {
            self = try JournalEntry(&reader, shapes)
        } catch {
            throw .malformed("a change in the outbox")
        }
    }
}

extension ShapeTable {
    /// The shapes of a state.
    convenience init(reading snapshot: StateSnapshot) throws(StateError) {
        self.init()
        var key = ByteWriter()
        key.append(Keyspace.shapes)
        try snapshot.forEach(prefix: key.bytes) { _, value throws(StateError) in
            do throws(MalformedBytes) {
                _ = add(try RowShape(encodedNames: value))
            } catch {
                throw .malformed("a shape")
            }
            return true
        }
    }
}
