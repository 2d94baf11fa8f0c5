// Rows of a server's answer, from JSON to the encoding of rows. The rows of a page mostly have the same members in the same
// order: the form of the last row is expected of the next, whose names are then only compared, and whose shape is shared.

import SynclineCore

/// An object as a row: what it says about itself picked out, everything but the id encoded.
struct ReadRow {
    /// Nil if there is none; an empty text or another kind of value is the caller's to judge.
    var id: Value?
    var columns: Row
    var isDeleted = false
    /// The millisecond it was last changed in, where it says.
    var moment: Int64?
}

struct RowReader {
    /// What a member's name makes of its value.
    private enum Role {
        case id, date, updatedAt, deleted, plain
    }

    /// The members of a row, in the order they came.
    private struct Form {
        /// Each name as it stands in the text, quotes and all.
        let texts: [[UInt8]]
        let roles: [Role]
        let shape: Shape
    }

    private var form: Form?
    private var forms: [[String]: Form] = [:]
    /// Rows with other members than these are read all the same, only not remembered.
    private static let formLimit = 64
    private var writer = ByteWriter(capacity: 512)

    /// Reads the next object.
    mutating func row(_ scanner: inout JSONScanner) throws(JSONError) -> ReadRow {
        let token = try scanner.peek()
        guard token == .object else { throw scanner.error(.wrongShape("a row must be an object")) }
        let start = scanner.offset
        if let form, let row = try row(&scanner, of: form) { return row }
        scanner.offset = start
        return try anyRow(&scanner)
    }

    /// Reads a row of a known form; nil if it turns out to be of another.
    private mutating func row(_ scanner: inout JSONScanner, of form: Form) throws(JSONError) -> ReadRow? {
        writer.removeAll()
        var row = ReadRow(columns: .empty)
        guard try scanner.enter("{", "}") else { return nil }
        for (index, role) in form.roles.enumerated() {
            if index > 0, try !scanner.hasNext("}") { return nil }
            guard form.texts[index].withUnsafeBytes({ scanner.skip(exactly: $0) }) else { return nil }
            try scanner.expect(":")
            try value(&scanner, role, &row)
        }
        guard try !scanner.hasNext("}") else { return nil }
        row.columns = Row(shape: form.shape, bytes: writer.bytes)
        return row
    }

    private mutating func value(
        _ scanner: inout JSONScanner, _ role: Role, _ row: inout ReadRow
    ) throws(JSONError) {
        switch role {
        case .plain: try scanner.encodeValue(into: &writer)
        case .date: _ = try scanner.encodeDate(into: &writer)
        case .updatedAt: row.moment = try scanner.encodeDate(into: &writer)?.instant.milliseconds
        case .id: row.id = try scanner.value(depth: JSONScanner.columnDepth)
        case .deleted:
            let flag = try scanner.value(depth: JSONScanner.columnDepth)
            row.isDeleted = flag == .bool(true)
            writer.append(value: flag)
        }
    }

    /// Reads a row of any form, and expects the next one to be of the same.
    private mutating func anyRow(_ scanner: inout JSONScanner) throws(JSONError) -> ReadRow {
        let members = try scanner.members(depth: JSONScanner.columnDepth - 1)
        var row = ReadRow(columns: .empty)
        var columns = RowBuilder()
        for member in members {
            switch RowReader.role(of: member.name) {
            case .id: row.id = member.value
            case .date: columns.set(member.name, RowReader.date(member.value))
            case .updatedAt:
                let date = RowReader.date(member.value)
                columns.set(member.name, date)
                row.moment = date.moment
            case .deleted:
                row.isDeleted = member.value == .bool(true)
                columns.set(member.name, member.value)
            case .plain: columns.set(member.name, member.value)
            }
        }
        row.columns = columns.row
        remember(members.map(\.name), &row)
        return row
    }

    /// Makes the row's form the one that is expected, and its shape that of earlier rows of the form.
    private mutating func remember(_ names: [String], _ row: inout ReadRow) {
        if let known = forms[names] {
            form = known
            row.columns = Row(shape: known.shape, bytes: row.columns.bytes)
            return
        }
        guard forms.count < RowReader.formLimit, !names.isEmpty else { return }
        let texts = names.map { name in
            var writer = JSONWriter()
            writer.write(.string(name))
            return writer.bytes
        }
        let new = Form(texts: texts, roles: names.map(RowReader.role), shape: row.columns.shape)
        forms[names] = new
        form = new
    }

    private static func role(of name: String) -> Role {
        switch name {
        case "id": .id
        case "createdAt": .date
        case "updatedAt": .updatedAt
        case "deleted": .deleted
        default: .plain
        }
    }

    private static func date(_ value: Value) -> Value {
        guard case .string(let text) = value, let date = Timestamp(text) else { return value }
        return .date(date)
    }
}
