// The binary form of PostgreSQL's arrays of one dimension.

import SynclineCore
import SynclineGround
import SynclineTables

/// Bytes are counted and numbers sent with the highest byte first.
struct PostgresArray {
    /// A type of values, by its OID.
    private enum Element: UInt32 {
        case boolean = 16
        case integer = 20
        case text = 25
        case json = 114
        case time = 1184

        init(_ type: ColumnType) {
            switch type.form {
            case .string, .uuid, .number, .decimal: self = .text
            case .boolean: self = .boolean
            case .date: self = .time
            case .json: self = .json
            }
        }
    }

    private let element: Element
    private var count = 0
    private var hasNull = false
    private var values: ByteWriter

    /// The dimensions, whether there are nulls, the type, the length, and the first index.
    private static let headerBytes = 20

    private init(_ element: Element, _ count: Int) {
        self.element = element
        values = ByteWriter(capacity: PostgresArray.headerBytes + count * 16)
        _ = values.room(PostgresArray.headerBytes)
    }

    private init(_ list: SQLList) {
        switch list {
        case .texts(let texts):
            self.init(.text, texts.count)
            for text in texts { append(text: text) }
        case .integers(let numbers):
            self.init(.integer, numbers.count)
            for number in numbers { append(UInt64(bitPattern: number)) }
        case .flags(let flags):
            self.init(.boolean, flags.count)
            for flag in flags { append(flag) }
        case .times(let times):
            self.init(.time, times.count)
            for time in times { append(Timestamp.Instant(milliseconds: time)) }
        }
    }

    /// The arrays of all columns. A value of another type than its column's, from another program, can't be sent in
    /// this form.
    static func arrays(_ bound: BoundRows) throws(StoreFailure) -> [[UInt8]] {
        var columns = bound.columns.map { PostgresArray(Element($0.type), bound.rows.count) }
        for row in bound.rows {
            try row.withView { view throws(StoreFailure) in
                var reader = ByteReader(view.bytes)
                for place in columns.indices { try columns[place].append(&reader, bound.columns[place].type) }
            }
        }
        return bound.lists.map { PostgresArray($0).bytes } + columns.map(\.bytes)
    }

    private var bytes: [UInt8] {
        var bytes = values.bytes
        for (place, number) in [count == 0 ? 0 : 1, hasNull ? 1 : 0, element.rawValue, UInt32(count), 1].enumerated() {
            for shift in 0..<4 { bytes[4 * place + shift] = UInt8(truncatingIfNeeded: number >> (24 - 8 * shift)) }
        }
        return count == 0 ? Array(bytes.prefix(12)) : bytes
    }

    // MARK: Values

    private mutating func append(length: Int) {
        count += 1
        values.room(4).storeBytes(of: UInt32(truncatingIfNeeded: length).bigEndian, as: UInt32.self)
    }

    private mutating func append(utf8: UnsafeRawBufferPointer) {
        append(length: utf8.count)
        values.append(utf8)
    }

    private mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(utf8: UnsafeRawBufferPointer($0)) }
    }

    private mutating func append(_ number: UInt64) {
        append(length: 8)
        values.append(ordered: number)
    }

    private mutating func append(_ flag: Bool) {
        append(length: 1)
        values.append(flag ? 1 : 0)
    }

    /// Microseconds since 2000.
    private mutating func append(_ instant: Timestamp.Instant) {
        let seconds = instant.seconds - 946_684_800
        append(UInt64(bitPattern: seconds &* 1_000_000 &+ (Int64(instant.nanoseconds) + 500) / 1000))
    }

    private mutating func append(_ reader: inout ByteReader, _ type: ColumnType) throws(StoreFailure) {
        // Strings, the most common values, are copied directly.
        if type == .string, (try? reader.withText({ append(utf8: $0) })) != nil { return }
        switch (type.bound((try? reader.value()) ?? .null), element) {
        case (.null, _):
            append(length: -1)
            hasNull = true
        case (.bool(let flag), .boolean): append(flag)
        case (.date(let instant), .time): append(instant)
        case (.json(let text), .json): append(text: text)
        case (let value, .text): append(text: value.postgresText ?? "")
        default: throw .contest
        }
    }
}
