// The places of values in the order of a column: by what they mean.

package import SynclineGround

extension ByteWriter {
    /// Appends a value's place in the order of a column. Strings and bytes are cut off after `limit` bytes.
    package mutating func append(sortOf value: Value, as type: ColumnType, limit: Int = .max) {
        append(sortOf: Meaning(value, as: type), limit: limit)
    }

    package mutating func append(sortOf meaning: Meaning, limit: Int = .max) {
        switch meaning {
        case .null: append(SortTag.null)
        case .bool(let flag): append(sortOf: flag)
        case .integer(let number): append(sortOf: number)
        case .number(let number): append(sortOf: number)
        case .decimal(let number): append(sortOf: number)
        case .string(let text): append(sortOf: Value.string(text), limit: limit)
        case .date(let instant): append(sortOf: instant)
        case .uuid(let digits):
            append(SortTag.uuid)
            append(digits)
        case .bytes(let content): append(sortOf: Value.bytes(content), limit: limit)
        case .plain(let value): append(sortOf: value, limit: limit)
        case .unfit(let value):
            append(SortTag.unfit)
            append(sortOf: value, limit: limit)
        }
    }

    /// Appends the place of an encoded value, which may be followed by other bytes.
    mutating func append(
        sortOfEncoded value: UnsafeRawBufferPointer, as type: ColumnType, limit: Int = .max
    ) throws(MalformedBytes) {
        guard let tag = value.first else { throw MalformedBytes() }
        var reader = ByteReader(value)
        switch type {
        case .any, .json: return try append(sortOfEncoded: value, limit: limit)
        case .integer where tag & 0xc0 == ValueTag.smallInteger || tag == ValueTag.integer:
            return try append(sortOfEncoded: value, limit: limit)
        case .string where tag >= ValueTag.shortText: return try append(sortOfEncoded: value, limit: limit)
        case .date where tag == ValueTag.instant:
            try reader.skip(1)
            return append(sortOf: Timestamp.Instant(milliseconds: try reader.zigzag()))
        case .uuid where tag == ValueTag.lowerUUID || tag == ValueTag.upperUUID,
            .guid where tag == ValueTag.lowerUUID || tag == ValueTag.upperUUID:
            try reader.skip(1)
            append(SortTag.uuid)
            return append(try reader.take(16))
        default: append(sortOf: try reader.value(), as: type, limit: limit)
        }
    }
}
