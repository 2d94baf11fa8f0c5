// The encoding of the events about talking to a server.
//
//   sent       := (name of the table · id · operation id, a string or null · position · through)*
//   answered   := name of the table · id · operation id · status · outcome · [message]
//                 outcome: 0 done id [row] · 1 conflict code [row] · 2 parked · 3 not received · 4 tombstone
//                 next operation id [row] · 5 revived next operation id, id, row · 6 as 1, and an earlier try may
//                 have been done · 7 failing · 8 interrupted
//   resolved   := name of the table · id · choice · (00, or 01 kind row) · [policy]

import SynclineGround

extension EventWriter {
    mutating func append(sent operation: SentOperation) {
        append(name: operation.table)
        append(id: operation.id)
        append(value: operation.operationID.map { .string($0) } ?? .null)
        append(position: operation.position)
        append(position: operation.through)
    }

    mutating func append(answer: Answer) {
        append(name: answer.table)
        append(id: answer.id)
        append(id: answer.operationID)
        append(varint: answer.status)
        switch answer.outcome {
        case .done(let row):
            append(varint: 0)
            append(id: row.id)
            append(optional: row.row)
        case .conflict(let server, let code):
            append(varint: answer.mayHaveBeenDone ? 6 : 1)
            append(id: code)
            append(optional: server)
        case .parked: append(varint: 2)
        case .notReceived: append(varint: 3)
        case .tombstone(let row):
            append(varint: 4)
            append(id: answer.nextOperationID ?? "")
            append(optional: row)
        case .failing: append(varint: 7)
        case .interrupted: append(varint: 8)
        case .revived(let row):
            append(varint: 5)
            append(id: answer.nextOperationID ?? "")
            append(id: row.id)
            append(optional: row.row)
        }
        append(value: answer.message.map { .string($0) } ?? .null)
    }

    mutating func append(resolution: Resolution) {
        append(name: resolution.table)
        append(id: resolution.id)
        append(varint: Int(resolution.choice.rawValue))
        append(flag: resolution.change != nil)
        if let change = resolution.change {
            append(varint: Int(change.kind.rawValue))
            append(row: change.columns)
        }
        append(value: resolution.policy.map { .string($0) } ?? .null)
    }

    mutating func append(optional row: Row?) {
        append(flag: row != nil)
        if let row { append(row: row) }
    }
}

extension EventReader {
    mutating func sentOperations() throws(MalformedBytes) -> [SentOperation] {
        var operations: [SentOperation] = []
        while !isAtEnd {
            let table = try name()
            let id = try id()
            let operationID = try text()
            let position = try position()
            operations.append(
                SentOperation(
                    table: table, id: id, operationID: operationID, position: position, through: try self.position()))
        }
        return operations
    }

    mutating func answer() throws(MalformedBytes) -> Answer {
        let table = try name()
        let id = try id()
        let operationID = try self.id()
        let status = try number()
        let outcome: Answer.Outcome
        var nextOperationID: String?
        let form = try number()
        switch form {
        case 0:
            let id = try self.id()
            outcome = .done(PulledRow(id: id, row: try optionalRow()))
        case 1, 6:
            let code = try self.id()
            outcome = .conflict(server: try optionalRow(), code: code)
        case 2: outcome = .parked
        case 3: outcome = .notReceived
        case 4:
            nextOperationID = try self.id()
            outcome = .tombstone(try optionalRow())
        case 5:
            nextOperationID = try self.id()
            let id = try self.id()
            outcome = .revived(PulledRow(id: id, row: try optionalRow()))
        case 7: outcome = .failing
        case 8: outcome = .interrupted
        default: throw MalformedBytes()
        }
        var answer = Answer(
            table: table, id: id, operationID: operationID, status: status, outcome: outcome, message: try text())
        answer.nextOperationID = nextOperationID
        answer.mayHaveBeenDone = form == 6
        return answer
    }

    mutating func resolution() throws(MalformedBytes) -> Resolution {
        let table = try name()
        let id = try id()
        let choice: Resolution.Choice = try numbered()
        let change = try flag() ? Resolution.Change(kind: try numbered(), columns: try row()) : nil
        return Resolution(table: table, id: id, choice: choice, change: change, policy: try text())
    }

    mutating func optionalRow() throws(MalformedBytes) -> Row? {
        try flag() ? try row() : nil
    }

    /// Reads a string or null.
    mutating func text() throws(MalformedBytes) -> String? {
        switch try value() {
        case .null: nil
        case .string(let text): text
        default: throw MalformedBytes()
        }
    }

    mutating func number() throws(MalformedBytes) -> Int {
        let number = try varint()
        guard number <= UInt64(UInt16.max) else { throw MalformedBytes() }
        return Int(number)
    }

    /// Reads the number of a case.
    mutating func numbered<Case: RawRepresentable<UInt8>>() throws(MalformedBytes) -> Case {
        guard let value = Case(rawValue: UInt8(truncatingIfNeeded: try number())) else { throw MalformedBytes() }
        return value
    }
}

/// In a page, stands before a row that can't be read, in the place of its presence.
private let unreadableMark: UInt8 = 3
/// The same before the hash of a row that the server no longer sends.
private let vanishedMark: UInt8 = 4

extension ByteWriter {
    mutating func append(unreadableOfPage row: UnreadableRow) {
        append(unreadableMark)
        append(unreadable: row)
        append(fixed: row.digest)
    }

    mutating func append(vanishedOfPage digest: UInt64) {
        append(vanishedMark)
        append(fixed: digest)
    }
}

extension ByteReader {
    /// Nil if a row follows that can be read.
    mutating func unreadableOfPage(_ table: String) throws(MalformedBytes) -> UnreadableRow? {
        guard rest.first == unreadableMark else { return nil }
        try skip(1)
        var row = try unreadable(table)
        row.digest = try fixed()
        return row
    }

    mutating func vanishedOfPage() throws(MalformedBytes) -> UInt64? {
        guard rest.first == vanishedMark else { return nil }
        try skip(1)
        return try fixed()
    }
}
