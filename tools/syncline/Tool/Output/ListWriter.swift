// Aligned columns. The first rows are buffered to find the widths, then written; later rows use the same widths, so
// that a long list can be streamed.

/// A column and its alignment. A title alone is a column whose cells begin at its left.
package struct Column: Sendable, ExpressibleByStringLiteral {
    package enum Alignment: Sendable { case left, right }
    var title: String
    var alignment: Alignment
    /// Whether it is left out at a terminal that is too narrow for all columns.
    var isSpare: Bool

    package init(_ title: String, _ alignment: Alignment = .left, isSpare: Bool = false) {
        self.title = title
        self.alignment = alignment
        self.isSpare = isSpare
    }

    package init(stringLiteral title: String) {
        self.init(title)
    }
}

/// A piece of text in a table.
package struct Cell: Sendable, ExpressibleByStringInterpolation {
    var text: String
    var role: TextRole

    package init(_ text: String, _ role: TextRole = .plain) {
        self.text = text
        self.role = role
    }

    package init(stringLiteral text: String) {
        self.init(text)
    }
}

/// Writes a list: a table as text, an array as JSON.
package struct ListWriter {
    private enum Row {
        case cells([Cell])
        case line(String)
    }

    private let output: Output
    private let columns: [Column]
    private var widths: [Int]
    private var waiting: [Row] = []
    private var hasHeading = false
    private static let lookahead = 512
    /// What a column keeps when others need room, too.
    private static let narrowest = 8
    /// Columns of addresses and times, which are never cut; nor are numbers.
    private var whole: Set<Int> = []
    private let isCut: Bool
    /// The columns that are shown.
    private var shown: [Int]

    /// - Parameter isCut: Whether cells are cut at a terminal that is too narrow for a row.
    package init(_ output: Output, _ columns: [Column], isCut: Bool = true) throws {
        self.output = output
        self.isCut = isCut
        self.columns = columns
        widths = columns.map(\.title.count)
        shown = Array(columns.indices)
        try output.beginList()
    }

    /// Adds a row, which is an element of the array.
    package mutating func row(_ cells: @autoclosure () -> [Cell], json: @autoclosure () -> JSONValue) throws {
        try output.element(json())
        if output.form.isText { try keep(.cells(cells())) }
    }

    /// Adds a line that is not a row, at its place.
    package mutating func line(_ text: @autoclosure () -> String, json: @autoclosure () -> JSONValue) throws {
        try output.element(json())
        if output.form.isText { try keep(.line(text())) }
    }

    /// Ends the list.
    @discardableResult
    package mutating func finish() throws -> ExitCode {
        try flush()
        try output.endList()
        return .done
    }

    private mutating func keep(_ row: Row) throws {
        waiting.append(row)
        if waiting.count >= ListWriter.lookahead { try flush() }
    }

    /// Writes the buffered rows, and continues.
    package mutating func flush() throws {
        for case .cells(let cells) in waiting {
            for (index, cell) in cells.enumerated() {
                widths[index] = max(widths[index], cell.text.count)
                if cell.role == .address || cell.role == .dim { whole.insert(index) }
            }
        }
        fit()
        for row in waiting {
            switch row {
            case .line(let text):
                try output.line(text)
            case .cells(let cells):
                if !hasHeading {
                    hasHeading = true
                    try output.line(set(columns.map { Cell($0.title, .dim) }))
                }
                try output.line(set(cells))
            }
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// The width of a row.
    private var width: Int { shown.reduce(2 * (shown.count - 1)) { $0 + widths[$1] } }

    /// Leaves out spare columns, the last first, and makes the widest ones narrower until a row fits the terminal.
    private mutating func fit() {
        guard isCut, output.form == .human, let limit = output.style.width else { return }
        while !hasHeading, width > limit, let spare = shown.lastIndex(where: { columns[$0].isSpare }) {
            shown.remove(at: spare)
        }
        let texts = shown.filter { columns[$0].alignment == .left && !whole.contains($0) }
        while width > limit {
            guard let widest = texts.max(by: { widths[$0] < widths[$1] }), widths[widest] > ListWriter.narrowest else {
                return
            }
            widths[widest] -= 1
        }
    }

    private func set(_ cells: [Cell]) -> String {
        var line = ""
        var gap = 0
        for index in shown {
            let whole = cells[index]
            let cell = Cell(isCut ? output.style.cut(whole.text, to: widths[index]) : whole.text, whole.role)
            let space = widths[index] - cell.text.count
            let before = columns[index].alignment == .right ? space : 0
            if !cell.text.isEmpty {
                line += String(repeating: " ", count: gap + before) + output.style.paint(cell.text, cell.role)
                gap = space - before + 2
            } else {
                gap += widths[index] + 2
            }
        }
        return line
    }
}
