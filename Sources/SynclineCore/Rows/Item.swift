// Checks what an app wants to store, in a fixed order: an object, its id, its column names, its values.

import SynclineGround

/// A row's id and columns, as an app provides them.
package struct Item: Hashable, Sendable {
    /// Nil if the engine chooses the id.
    package var id: String?
    package var columns: Row
    /// Whether a column has a number that no integer and no double holds, which only a server may have given to a row.
    package private(set) var hasWideNumbers = false

    /// Columns set by the server: values for them from an app are ignored.
    package static let systemColumns: Set<String> = ["createdAt", "updatedAt", "version", "deleted"]
    /// The maximum size of a row.
    package static let sizeLimit = 16 << 20

    /// Creates an item from a JSON value.
    package init(_ value: Value) throws(SyncError) {
        guard case .object(let members) = value else {
            throw SyncError(.invalidItem, "an item must be an object", hint: "Pass an object with an \"id\".")
        }
        try self.init(members)
    }

    package init(_ members: [Value.Member]) throws(SyncError) {
        var builder = RowBuilder()
        switch members[member: "id"] {
        case nil: self.id = nil
        case .string(let text)?:
            try Item.check(id: text)
            self.id = text
        case let other?:
            throw SyncError(
                .invalidID, "an id must be a string, not \(other.kindName)",
                hint: "Leave the id out to get a new one.")
        }
        for member in members where member.name.hasPrefix("__") {
            throw SyncError(
                .reservedColumn, "the column name \"\(member.name)\" is reserved",
                hint: "Names that begin with \"__\" are reserved.")
        }
        for member in members where member.name != "id" && !Item.systemColumns.contains(member.name) {
            try Item.check(column: member.name)
            try Item.check(member.value, column: member.name, depth: 0)
            if member.value.isWide { hasWideNumbers = true }
            builder.set(member.name, member.value.asStored)
        }
        columns = builder.row
        guard columns.bytes.count <= Item.sizeLimit else {
            throw SyncError(
                .invalidItem, "a row of \(columns.bytes.count) bytes is larger than \(Item.sizeLimit)",
                hint: "Keep large content in files and their names in rows.")
        }
    }

    /// Checks a name that no server and no filter could spell; other restrictions are the server's.
    package static func check(column name: String) throws(SyncError) {
        guard name.isEmpty || name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else { return }
        throw SyncError(
            .invalidItem, name.isEmpty ? "a column has no name" : "a column's name has a control character",
            hint: "Start with a letter or \"_\", followed by letters, digits, \"_\" and \"-\".")
    }

    package static func check(id: String) throws(SyncError) {
        do throws(RowIDFault) {
            try RowID.check(id)
        } catch {
            throw SyncError(.invalidID, "the id can't be used: \(error.reason)")
        }
    }

    package static func check(table: String) throws(SyncError) {
        if RowID.isPlain(table) { return }
        let isFine =
            !table.isEmpty && table.utf16.count <= RowID.limit
            && !table.unicodeScalars.contains {
                $0.value < 0x20 || $0.value == 0x7f || "/\\?#%\"".unicodeScalars.contains($0)
            }
        guard isFine else {
            throw SyncError(
                .unknownTable, "\"\(table.prefix(40))\" can't be the name of a table",
                hint: "Use letters, digits, \"_\" and \"-\".")
        }
    }

    private static func check(_ value: Value, column: String, depth: Int) throws(SyncError) {
        switch value {
        case .string(let text) where text.utf8.contains(0):
            throw zero(column)
        case .double(let number) where !number.isFinite:
            throw SyncError(.invalidItem, "column \"\(column)\" holds a number that is not finite")
        case .date(let date) where !date.isWritable:
            throw SyncError(.invalidItem, "column \"\(column)\" holds a date that can't be written")
        case .array(let elements):
            try checkDepth(depth, column)
            for element in elements { try check(element, column: column, depth: depth + 1) }
        case .object(let members):
            try checkDepth(depth, column)
            for member in members {
                if member.name.utf8.contains(0) { throw zero(column) }
                try check(member.value, column: column, depth: depth + 1)
            }
        default: break
        }
    }

    /// Returns the error for a zero character, which SQL databases can't store in a string.
    private static func zero(_ column: String) -> SyncError {
        SyncError(
            .invalidItem, "column \"\(column)\" holds the character U+0000, which servers refuse",
            hint: "Remove it, or store bytes.")
    }

    private static func checkDepth(_ depth: Int, _ column: String) throws(SyncError) {
        guard depth < valueDepthLimit else {
            throw SyncError(.invalidItem, "column \"\(column)\" nests deeper than \(valueDepthLimit)")
        }
    }

    /// Throws if it sets a number that no integer and no double holds, unless the row has it already, or the column is one
    /// of numbers or decimals.
    package func checkWideNumbers(over row: Row?, _ types: TableTypes) throws(SyncError) {
        guard hasWideNumbers else { return }
        for member in columns.members where member.value.isWide && !types[member.name].isNumeric {
            if row?[member.name]?.stays(under: member.value) == true { continue }
            throw SyncError(
                .invalidItem, "column \"\(member.name)\" holds a number that fits neither 64 bits nor a double",
                hint: "Store it as a string, or round it.")
        }
    }
}

extension Value {
    /// Whether it is, or contains, a number that no integer and no double holds.
    fileprivate var isWide: Bool {
        switch self {
        case .number(let number): !number.isDouble
        case .array(let elements): elements.contains(where: \.isWide)
        case .object(let members): members.contains { $0.value.isWide }
        default: false
        }
    }

    /// The value as a row has it: a date and bytes are strings, as they are for a server.
    package var asStored: Value {
        switch self {
        case .date(let date): .string(date.description)
        case .bytes(let content): .string(Base64.encode(content))
        case .array(let elements): .array(elements.map(\.asStored))
        case .object(let members): .object(members.map { Member($0.name, $0.value.asStored) })
        case .null, .bool, .integer, .double, .number, .string: self
        }
    }

    /// The name of the value's kind, for messages.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .double, .number: "a number"
        case .string: "a string"
        case .date: "a date"
        case .bytes: "bytes"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
