// Reads rows from CSV. The first line names the columns.

import SynclineCore
import SynclineGround

final class CSVReading: RowFileReading {
    private let lines: LineInput
    private let table: String
    private var names: [String] = []

    private struct Cell {
        var bytes: [UInt8] = []
        var isQuoted = false

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    init(_ lines: LineInput, of table: String) throws(SyncError) {
        (self.lines, self.table) = (lines, table)
        guard let heading = try record() else { return }
        names = heading.map { CSVText.unmarked($0.text) }
        guard names.exact.count == names.count else { throw wrong("the heading names a column twice") }
    }

    /// The next row; nil at the end.
    func next() throws(SyncError) -> FileRow? {
        guard let cells = try record() else { return nil }
        guard cells.count == names.count else {
            throw wrong("it has \(cells.count) cell\(cells.count == 1 ? "" : "s"), and the heading has \(names.count)")
        }
        let members = zip(names, cells).compactMap { name, cell -> Value.Member? in
            if name == "id" { return .init(name, .string(CSVText.unmarked(cell.text))) }
            return CSVText.value(cell.text, isQuoted: cell.isQuoted).map { .init(name, $0) }
        }
        return FileRow(table: table, item: .object(members), size: cells.reduce(0) { $0 + $1.bytes.count })
    }

    /// The cells of the next line that is not empty; a cell in quotes may continue on the next lines.
    private func record() throws(SyncError) -> [Cell]? {
        var line: [UInt8]
        repeat {
            guard let next = try nextLine() else { return nil }
            line = next
        } while line.isEmpty || line == [UInt8(ascii: "\r")]
        var cells = [Cell()]
        var isInQuotes = false
        var index = 0
        while true {
            guard index < line.count else {
                guard isInQuotes else { return cells }
                guard let next = try nextLine() else { throw wrong("a quotation mark is missing") }
                cells[cells.count - 1].bytes.append(UInt8(ascii: "\n"))
                (line, index) = (next, 0)
                continue
            }
            let isLast = index == line.count - 1
            switch (line[index], isInQuotes) {
            case (UInt8(ascii: "\""), true) where !isLast && line[index + 1] == UInt8(ascii: "\""):
                cells[cells.count - 1].bytes.append(UInt8(ascii: "\""))
                index += 1
            case (UInt8(ascii: "\""), true): isInQuotes = false
            case (let byte, true): cells[cells.count - 1].bytes.append(byte)
            case (UInt8(ascii: ","), false): cells.append(Cell())
            case (UInt8(ascii: "\r"), false) where isLast: break
            case (_, false) where cells[cells.count - 1].isQuoted: throw wrong("text follows a quotation mark")
            case (UInt8(ascii: "\""), false) where cells[cells.count - 1].bytes.isEmpty:
                cells[cells.count - 1].isQuoted = true
                isInQuotes = true
            case (let byte, false): cells[cells.count - 1].bytes.append(byte)
            }
            index += 1
        }
    }

    private func nextLine() throws(SyncError) -> [UInt8]? {
        guard var next = try lines.next() else { return nil }
        // Some spreadsheets begin a file with a byte order mark.
        if lines.line == 1, next.starts(with: [0xef, 0xbb, 0xbf]) { next.removeFirst(3) }
        return next
    }

    private func wrong(_ what: String) -> SyncError {
        SyncError(
            .invalidItem, "line \(lines.line) is not a line of CSV: \(what)",
            hint: "A cell with a comma, a quotation mark or a line end is in quotation marks.")
    }
}
