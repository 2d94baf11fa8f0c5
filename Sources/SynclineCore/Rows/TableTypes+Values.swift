// Checks what an app wants to store against the types of the columns, and stores it in their forms.

import SynclineGround

extension TableTypes {
    /// Whether it is certain that all values fit and have the form in which they are stored.
    func fit(_ columns: Row) -> Bool {
        columns.withView { row in
            var reader = ByteReader(row.bytes)
            return row.shape.names.allSatisfy { name in
                self[name].certainlyFits(reader.rest) && (try? reader.skipValue()) != nil
            }
        }
    }

    /// The columns in the forms in which they are stored. Throws if a value does not fit its type, unless the row has it.
    /// - Parameter address: The row, for an error.
    package func stored(_ columns: Row, over row: Row?, _ address: String) throws(SyncError) -> Row {
        var builder = RowBuilder()
        for member in columns.members {
            let type = self[member.name]
            guard !type.fits(member.value) else {
                builder.set(member.name, type.stored(member.value))
                continue
            }
            guard let known = row?[member.name], type.areSame(known, member.value) else {
                throw SyncError(
                    .invalidItem,
                    "\(member.value.debugDescription.prefix(60)) does not fit the column \"\(member.name)\"",
                    hint: "Its type is \(type.rawValue): store \(type.wanted), or null.", address: address)
            }
            builder.set(member.name, known)
        }
        return builder.row
    }
}

extension ColumnType {
    /// Whether an encoded value, which may be followed by other bytes, certainly fits and has the form in which it is
    /// stored.
    fileprivate func certainlyFits(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let tag = value.first else { return false }
        if tag == ValueTag.null { return true }
        return switch self {
        case .any, .json: true
        case .string: ValueTag.isText(tag)
        case .boolean: tag == ValueTag.no || tag == ValueTag.yes
        case .integer: tag & 0xc0 == ValueTag.smallInteger || tag == ValueTag.integer
        case .number: tag == ValueTag.double
        case .date: tag == ValueTag.instant
        case .uuid, .guid: tag == ValueTag.upperUUID || tag == ValueTag.lowerUUID
        case .decimal: tag & 0xc0 == ValueTag.smallInteger || tag == ValueTag.integer
        case .decimalString, .bytes: false
        }
    }

    /// The form in which a value that fits is stored, and so sent: an integer without a point, and a decimal as a number,
    /// or as a string for a server that wants one.
    fileprivate func stored(_ value: Value) -> Value {
        switch (self, value, Meaning(value, as: self)) {
        case (.integer, _, .integer(let number)): .integer(number)
        case (.decimal, .string(let text), .decimal): Value(number: text) ?? value
        case (.decimalString, .integer(let number), _): .string(String(number))
        case (.decimalString, .double(let number), _): .string(NumberDigits(shortest: number)?.text ?? "\(number)")
        case (.decimalString, .number(let number), _): .string(number.spelling)
        default: value
        }
    }
}
