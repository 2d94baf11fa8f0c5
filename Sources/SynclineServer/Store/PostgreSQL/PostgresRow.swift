// A row of a result of PostgreSQL, read from libpq's memory.

import CPostgres
import SynclineCore
import SynclineGround
import SynclineTables

struct PostgresRow: SQLRow {
    let result: OpaquePointer?
    let row: Int32

    func value(_ index: Int) -> SQLValue {
        text(index).map {
            SQLValue(postgresText: String(decoding: $0, as: UTF8.self), type: PQftype(result, Int32(index)))
        } ?? .null
    }

    func instant(_ index: Int) -> Timestamp.Instant {
        let time = text(index).flatMap { Timestamp.Instant(postgresText: $0, type: PQftype(result, Int32(index))) }
        return time.map { .init(milliseconds: $0.milliseconds) } ?? value(index).instant
    }

    func place(of index: Int, among texts: FewTexts) -> Int? {
        guard SQLValue.isPostgresText(PQftype(result, Int32(index))), let text = text(index) else { return nil }
        return texts.place(of: UnsafeRawBufferPointer(text))
    }

    /// Strings and times, the most common values, are read directly from libpq's memory.
    func encode(_ index: Int, as type: ColumnType, into writer: inout ByteWriter) {
        let stored = PQftype(result, Int32(index))
        if let text = text(index) {
            let isText = [.string, .uuid].contains(type.form) && SQLValue.isPostgresText(stored)
            if isText, UnsafeRawBufferPointer(text).isUTF8 {
                return writer.append(textValue: UnsafeRawBufferPointer(text))
            }
            if type.form == .date, let instant = Timestamp.Instant(postgresText: text, type: stored) {
                return writer.append(value: .date(Timestamp(kept: instant)))
            }
        }
        writer.append(value: type.value(value(index)))
    }

    private func text(_ index: Int) -> UnsafeBufferPointer<UInt8>? {
        guard PQgetisnull(result, row, Int32(index)) == 0, let start = PQgetvalue(result, row, Int32(index)) else {
            return nil
        }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, Int32(index))))
        return bytes.assumingMemoryBound(to: UInt8.self)
    }
}
