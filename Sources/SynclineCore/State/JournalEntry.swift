// A change in the outbox, in the order of the journal. Its columns are stored here only while its row has other changes
// too: otherwise the row's entry has them. Its flags are `JournalFlags`. If the change set local columns, their earlier
// values follow at the end.

package import SynclineGround

package struct JournalEntry: Hashable, Sendable {
    package var kind: OperationKind
    /// The row's key in the state.
    package var rowKey: [UInt8]
    /// A delete that cancelled a pending insert.
    package var cancels = false
    /// An insert of a row whose delete was pending.
    package var replaces = false
    /// An insert that a decision made from an operation whose row is gone: it restores the row.
    package var revives = false
    package var isGrouped = false
    package var isResolution = false
    /// Part of an operation that was sent, is in conflict, or parked.
    package var isFrozen = false
    /// The previous change of the same row.
    package var previous: Position?
    /// The columns that it set, if the row has more than one change.
    package var content: Row?
    /// If the change set local columns: all local columns of its row before it, which an undo restores.
    package var localBefore: Row?
}

extension JournalEntry {
    /// The row's change before this one, which is at a position. Throws if it is not an earlier one: following such
    /// changes might never end.
    func previous(before position: Position) throws(SyncError) -> Position? {
        guard let previous else { return nil }
        guard previous < position else { throw .malformed("the order of a row's changes") }
        return previous
    }

    /// The entry of a row's first insert.
    static func encode(insertOf rowKey: UnsafeRawBufferPointer, isGrouped: Bool, into writer: inout ByteWriter) {
        var flags = JournalFlags.form(.insert)
        flags.set(.grouped, if: isGrouped)
        writer.append(flags.rawValue)
        writer.append(counted: rowKey)
    }

    package func encode(into writer: inout ByteWriter, _ shapes: some ShapeNumbering) {
        var flags = JournalFlags.form(form)
        flags.set(.grouped, if: isGrouped)
        flags.set(.content, if: content != nil)
        flags.set(.previous, if: previous != nil)
        flags.set(.resolution, if: isResolution)
        flags.set(.frozen, if: isFrozen)
        writer.append(flags.rawValue)
        writer.append(counted: rowKey)
        if let previous { writer.append(position: previous) }
        if let content { writer.append(row: content, shapes) }
        if let localBefore { writer.append(row: localBefore, shapes) }
    }

    private var form: JournalFlags.Form {
        switch kind {
        case .insert: replaces ? .replacingInsert : revives ? .revivingInsert : .insert
        case .update: .update
        case .delete: cancels ? .cancellingDelete : .delete
        }
    }

    package init(_ reader: inout ByteReader, _ shapes: ShapeTable) throws(MalformedBytes) {
        let flags = JournalFlags(rawValue: try reader.byte())
        guard let form = flags.form else { throw MalformedBytes() }
        let kind: OperationKind =
            switch form {
            case .insert, .replacingInsert, .revivingInsert: .insert
            case .update: .update
            case .delete, .cancellingDelete: .delete
            }
        self.init(kind: kind, rowKey: [UInt8](try reader.counted()))
        replaces = form == .replacingInsert
        cancels = form == .cancellingDelete
        revives = form == .revivingInsert
        isGrouped = flags.contains(.grouped)
        isResolution = flags.contains(.resolution)
        isFrozen = flags.contains(.frozen)
        if flags.contains(.previous) { previous = try reader.position() }
        if flags.contains(.content) { content = try reader.row(shapes) }
        if !reader.isAtEnd { localBefore = try reader.row(shapes) }
    }
}
