// The order of an index: rows by the value of one column, then by id. Values are shortened and rounded so that they
// sort correctly as bytes. Two different values may have the same key, so the reader of an index must check the rows.
//
//   05 table 00 column 00 value row-id      value := 02 bool | 04 number (8) | 06 text of at most 48 bytes 00 00
//
// Null, dates, bytes, arrays and objects are not in an index, so it is not used for them.

import SynclineGround

enum IndexKey {
    static let textLimit = 48

    static func prefix(_ table: Bytes, _ column: String) -> ByteWriter {
        var writer = ByteWriter(capacity: 128)
        writer.append(Keyspace.indexes)
        writer.append(table)
        writer.append(0)
        writer.append(Array(column.utf8))
        writer.append(0)
        return writer
    }

    static func prefix(_ table: String, _ column: String) -> ByteWriter {
        var table = table
        return table.withUTF8 { prefix(Bytes($0), column) }
    }
}

extension ByteWriter {
    /// Appends a value's position in an index; returns false if it has none.
    mutating func append(indexValue value: Value) -> Bool {
        switch value {
        case .bool(let flag):
            append(2)
            append(flag ? 1 : 0)
        case .integer(let number): append(indexNumber: Double(number))
        case .double(let number): append(indexNumber: number)
        case .string(let text):
            append(6)
            append(indexText: text)
        case .null, .date, .bytes, .array, .object: return false
        }
        return true
    }

    /// Rounding keeps the order, so that both kinds of numbers share it.
    private mutating func append(indexNumber number: Double) {
        append(4)
        // Zero has two bit patterns.
        let bits = (number == 0 ? 0 : number).bitPattern
        append(ordered: bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    private mutating func append(indexText text: String) {
        for byte in text.utf8.prefix(IndexKey.textLimit) {
            append(byte)
            // A zero inside sorts after the end.
            if byte == 0 { append(0xff) }
        }
        append(0)
        append(0)
    }
}

extension ByteReader {
    /// Steps over a value in an index; the row's id follows, as in a row's key.
    mutating func skipIndexValue() throws(MalformedBytes) {
        switch try byte() {
        case 2: try skip(1)
        case 4: try skip(8)
        case 6:
            while true {
                guard try byte() == 0 else { continue }
                if try byte() == 0 { return }
            }
        default: throw MalformedBytes()
        }
    }
}
