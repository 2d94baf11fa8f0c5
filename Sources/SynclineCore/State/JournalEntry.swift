// A change in the outbox, in the order of the journal. What it set is kept here only while its row has other changes
// too: alone, it is what the row's entry lays over the base.
//
//   flags: 07 form (0 insert, 1 insert that replaces, 2 update, 3 delete, 4 delete that cancels, 5 insert that revives) · 08 part of a
//          transaction · 10 content · 20 the row has an earlier change · 40 made by a resolution · 80 frozen
//   behind it all, of a change that set local columns: the row's local columns before it

package struct JournalEntry: Hashable, Sendable {
    package var kind: OperationKind
    /// The row's key in the state.
    package var rowKey: [UInt8]
    /// A delete that took back a pending insert.
    package var cancels = false
    /// An insert of a row whose delete was pending.
    package var replaces = false
    /// An insert that a decision made of an operation whose row is gone: it brings the row back.
    package var revives = false
    package var isGrouped = false
    package var isResolution = false
    /// Part of an operation that was sent, is in conflict, or parked.
    package var isFrozen = false
    /// The change of the same row before this one.
    package var previous: Position?
    /// The columns it set, where the row has more than one change.
    package var content: Row?
    /// Of a change that set local columns: all those of its row before it, which an undo gives back.
    package var localBefore: Row?

    package init(kind: OperationKind, rowKey: [UInt8]) {
        self.kind = kind
        self.rowKey = rowKey
    }
}

extension JournalEntry {
    private static let grouped: UInt8 = 8
    private static let hasContent: UInt8 = 0x10
    private static let hasPrevious: UInt8 = 0x20
    private static let resolution: UInt8 = 0x40
    private static let frozen: UInt8 = 0x80

    /// The entry of a row's first insert.
    static func encode(insertOf rowKey: UnsafeRawBufferPointer, isGrouped: Bool, into writer: inout ByteWriter) {
        writer.append(isGrouped ? grouped : 0)
        writer.append(counted: rowKey)
    }

    func encode(into writer: inout ByteWriter, _ shapes: some ShapeNumbering) {
        var flags: UInt8 =
            switch kind {
            case .insert: replaces ? 1 : revives ? 5 : 0
            case .update: 2
            case .delete: cancels ? 4 : 3
            }
        if isGrouped { flags |= JournalEntry.grouped }
        if content != nil { flags |= JournalEntry.hasContent }
        if previous != nil { flags |= JournalEntry.hasPrevious }
        if isResolution { flags |= JournalEntry.resolution }
        if isFrozen { flags |= JournalEntry.frozen }
        writer.append(flags)
        writer.append(counted: rowKey)
        if let previous { writer.append(position: previous) }
        if let content { writer.append(row: content, shapes) }
        if let localBefore { writer.append(row: localBefore, shapes) }
    }

    init(_ reader: inout ByteReader, _ shapes: ShapeTable) throws(MalformedBytes) {
        let flags = try reader.byte()
        let kinds: [OperationKind] = [.insert, .insert, .update, .delete, .delete, .insert]
        let form = Int(flags & 7)
        guard form < kinds.count else { throw MalformedBytes() }
        self.init(kind: kinds[form], rowKey: [UInt8](try reader.counted()))
        replaces = form == 1
        cancels = form == 4
        revives = form == 5
        isGrouped = flags & JournalEntry.grouped != 0
        isResolution = flags & JournalEntry.resolution != 0
        isFrozen = flags & JournalEntry.frozen != 0
        if flags & JournalEntry.hasPrevious != 0 { previous = try reader.position() }
        if flags & JournalEntry.hasContent != 0 { content = try reader.row(shapes) }
        if !reader.isAtEnd { localBefore = try reader.row(shapes) }
    }
}
