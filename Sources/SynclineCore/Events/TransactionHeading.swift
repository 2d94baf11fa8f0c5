// What an event of the app's changes begins with: 0 if one change was made alone, 1 for a transaction, 2 for one with a
// name, which follows, 3 for a redo, with the undo whose transaction it makes again and the name or nothing.

import SynclineGround

package struct TransactionHeading: Hashable, Sendable {
    /// Whether it was made as a transaction, and so is undone as a whole.
    package var isGrouped: Bool
    /// The app's name for it.
    package var name: String?
    /// For a redo: the event of the undo.
    package var undo: UInt64?

    package init(isGrouped: Bool, name: String? = nil) {
        self.isGrouped = isGrouped
        self.name = name
    }

    package init(redoing undo: UInt64, name: String?) {
        self.init(isGrouped: true, name: name)
        self.undo = undo
    }
}

extension EventWriter {
    mutating func append(_ heading: TransactionHeading) {
        append(varint: heading.undo != nil ? 3 : heading.name != nil ? 2 : heading.isGrouped ? 1 : 0)
        if let undo = heading.undo {
            append(number: undo)
            append(flag: heading.name != nil)
        }
        if let name = heading.name { append(id: name) }
    }
}

extension EventReader {
    mutating func transaction() throws(MalformedBytes) -> TransactionHeading {
        switch try varint() {
        case 0: return TransactionHeading(isGrouped: false)
        case 1: return TransactionHeading(isGrouped: true)
        case 2: return TransactionHeading(isGrouped: true, name: try id())
        case 3: return TransactionHeading(redoing: try varint(), name: try flag() ? try id() : nil)
        default: throw MalformedBytes()
        }
    }

    /// Reads when an event of any kind was written, and the name if it is a transaction of the app.
    package mutating func heading() throws(SyncError) -> (time: Int64, name: String?) {
        guard kind == .local else { return (time, nil) }
        do throws(MalformedBytes) {
            return (time, try transaction().name)
        } catch {
            throw .malformed("an event of local changes")
        }
    }
}
