// Writes the rows of a table in a format, and shows at a terminal how many of them it has read and written.

import Syncline

struct RowExport {
    let table: String
    let nameInSQL: String
    let redacts: Bool
    let context: Context

    func write(_ reader: StateReader, as format: String) throws {
        let redacts = redacts
        let rows = ExportedTable(table, reader) { redacts ? $0.redacted : $0 }
        let (columns, count) = try survey(rows)
        let progress = context.progress("writing \(table)", of: UInt64(count))
        defer { progress?.finish() }
        switch format {
        case "csv": try line(CSVText.heading(columns))
        case "sql": try context.output.line(SQLText.create(nameInSQL, columns))
        default: break
        }
        let reading = try rows.read()
        while let row = try reading.next() {
            let json = json(row)
            try context.output.element(json)
            if context.output.form.isText {
                switch format {
                case "csv": try line(CSVText.line(row, columns))
                case "sql": try context.output.line(SQLText.insert(row, into: nameInSQL, columns))
                default: try context.output.line(json.text)
                }
            }
            progress?.advance(by: 1)
        }
    }

    private func survey(_ rows: ExportedTable) throws -> (names: [String], rows: Int) {
        let progress = context.progress("reading \(table)", of: 0)
        defer { progress?.finish() }
        return try rows.columns { progress?.move(to: UInt64($0), of: 0) }
    }

    private func json(_ row: StoredRow) -> JSONValue { ["table": .string(table), "row": JSONValue(row)] }

    /// A line of CSV. A terminal must not take its content for a command.
    private func line(_ text: String) throws {
        try context.output.line(context.output.form == .human ? escaped(text) : text)
    }
}

extension Context {
    /// Progress in rows; nil if the rows themselves go to the terminal.
    fileprivate func progress(_ label: String, of total: UInt64) -> TaskProgress? {
        output.form == .human ? nil : narration.progress(label, total: total, in: .rows)
    }
}
