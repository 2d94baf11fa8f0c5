// Converts the rows of a response from JSON to their encoding. Rows of a page mostly have the same members in the
// same order. So the form of the last row is expected of the next one: its names are only compared, and its shape is
// shared.

import SynclineCore
import SynclineGround

/// A row read from an object: its system values extracted, and everything but the id encoded.
struct ReadRow {
    /// Nil if there is none; the caller checks for an empty string or another kind of value.
    var id: Value?
    var columns: Row
    var isDeleted = false
    /// The millisecond of its last change, if known.
    var moment: Int64?
}

struct RowReader {
    /// How a member's value is used, depending on its name.
    private enum Role {
        case id, date, updatedAt, deleted, plain
    }

    /// The members of a row, in the order they came.
    private struct Form {
        /// Each name as in the text, with its quotes.
        let texts: [[UInt8]]
        let roles: [Role]
        let shape: RowShape
    }

    private var form: Form?
    private var forms: [[ExactString]: Form] = [:]
    /// The maximum number of forms kept; rows of other forms are read without one.
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

    /// Reads a row of a known form; returns nil if it has another one.
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

    /// Reads a row of any form, and expects the same form of the next one.
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

    /// Makes the row's form the expected one, and reuses the shape of earlier rows of the form.
    private mutating func remember(_ names: [String], _ row: inout ReadRow) {
        let key = names.map(ExactString.init)
        if let known = forms[key] {
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
        forms[key] = new
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
