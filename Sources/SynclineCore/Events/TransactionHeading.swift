// What an event of the app's changes begins with: 0 if one change was made alone, 1 for a transaction, 2 for one with a
// name, which follows.

import SynclineGround

extension EventWriter {
    mutating func append(transactionNamed name: String?, isGrouped: Bool) {
        append(varint: name != nil ? 2 : isGrouped ? 1 : 0)
        if let name { append(id: name) }
    }
}

extension EventReader {
    mutating func transaction() throws(MalformedBytes) -> (isGrouped: Bool, name: String?) {
        let number = try varint()
        guard number <= 2 else { throw MalformedBytes() }
        return (number > 0, number == 2 ? try id() : nil)
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
