// CSV and JSON Lines as formats of files with rows.

import SynclineCore
import SynclineWire

struct CSVFormat: RowFileFormat {
    func write(_ tables: [ExportedTable], to file: FilePlace) throws(SyncError) -> Int {
        guard let rows = tables.first, tables.count == 1 else {
            throw SyncError(
                .invalidConfiguration, "a CSV file has the rows of one table, and there are \(tables.count)",
                hint: "Name one table.")
        }
        let (columns, count) = try rows.columns()
        var output = try LineOutput(file)
        try output.write(Array(CSVText.heading(columns).utf8))
        let reading = try rows.read()
        while let row = try reading.next() { try output.write(Array(CSVText.line(row, columns).utf8)) }
        try output.finish()
        return count
    }

    func rows(in file: FilePlace, of table: String?) throws(SyncError) -> any RowFileReading {
        guard let table else {
            throw SyncError(.invalidConfiguration, "a CSV file does not name its table", hint: "Name the table.")
        }
        return try CSVReading(LineInput(file), of: table)
    }
}

struct JSONLinesFormat: RowFileFormat {
    func write(_ tables: [ExportedTable], to file: FilePlace) throws(SyncError) -> Int {
        var output = try LineOutput(file)
        var count = 0
        for rows in tables {
            let reading = try rows.read()
            while let row = try reading.next() {
                var writer = JSONWriter()
                var line = writer.beginObject()
                writer.write("table", .string(rows.table), in: &line)
                writer.write("row", .object([.init("id", .string(row.id))] + row.columns.members), in: &line)
                writer.end(line)
                try output.write(writer.bytes)
                count += 1
            }
        }
        try output.finish()
        return count
    }

    func rows(in file: FilePlace, of table: String?) throws(SyncError) -> any RowFileReading {
        JSONLinesReading(try LineInput(file), of: table)
    }
}

/// Reads rows from JSON Lines: `{"table":…,"row":{…}}`, or only the row if the table is known.
final class JSONLinesReading: RowFileReading {
    private let lines: LineInput
    private let table: String?

    init(_ lines: LineInput, of table: String?) { (self.lines, self.table) = (lines, table) }

    func next() throws(SyncError) -> FileRow? {
        while let line = try lines.next() {
            if line.isEmpty || line == [UInt8(ascii: "\r")] { continue }
            let value = try value(line)
            if let table { return FileRow(table: table, item: value, size: line.count) }
            guard case .string(let name)? = value[member: "table"], let row = value[member: "row"] else {
                throw SyncError(
                    .invalidItem, "line \(lines.line): a row must be written as {\"table\":…,\"row\":{…}}",
                    hint: "Name the table if the lines are only rows.")
            }
            return FileRow(table: name, item: row, size: line.count)
        }
        return nil
    }

    private func value(_ line: [UInt8]) throws(SyncError) -> Value {
        do throws(JSONError) { return try Value(json: line) } catch {
            throw SyncError(
                .invalidItem, "the item is not valid JSON: \(error) of line \(lines.line)",
                hint: "Write it as {\"text\":\"milk\"}.")
        }
    }
}
