// The throughputs as bars, a panel for each table: every panel has a scale of its own that begins at zero, so lengths
// compare within a panel. Plain SVG, readable on light and dark ground.

struct Chart {
    private static let panelWidth = 440
    private static let labelWidth = 172
    private static let barWidth = 170
    private static let lineHeight = 19
    private static let gap = 28

    private let tables: [Table]
    private let subtitle: String

    init(_ tables: [Table], _ subtitle: String) {
        self.tables = tables.filter { $0.rows.contains { $0.rate != nil } }
        self.subtitle = subtitle
    }

    var svg: String {
        var heights = [72, 72]
        var body = ""
        for table in tables {
            let column = heights[0] <= heights[1] ? 0 : 1
            let x = Self.gap + column * (Self.panelWidth + Self.gap)
            body += panel(table, x: x, y: heights[column])
            heights[column] += height(of: table) + Self.gap
        }
        let width = 2 * Self.panelWidth + 3 * Self.gap
        let height = max(heights[0], heights[1])
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
            viewBox="0 0 \(width) \(height)" role="img" aria-label="Throughput of the log and its peers">
            <style>
            svg { background: #fff; }
            text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f; }
            .ground { fill: #fff; } .title { font-size: 17px; font-weight: 600; } .name { font-weight: 600; }
            .quiet { fill: #656d76; } .log { fill: #0969da; } .floor { fill: #afb8c1; } .peer { fill: #8c6bb1; }
            @media (prefers-color-scheme: dark) {
            svg { background: #0d1117; } text { fill: #e6edf3; }
            .ground { fill: #0d1117; } .quiet { fill: #9198a1; }
            .log { fill: #4493f8; } .floor { fill: #59636e; } .peer { fill: #a98fd0; }
            }
            </style>
            <rect class="ground" width="\(width)" height="\(height)"/>
            <text class="title" x="\(Self.gap)" y="32">Longer is better; × is the speed against the log’s</text>
            <text class="quiet" x="\(Self.gap)" y="52">\(escaped(subtitle))</text>
            \(body)</svg>

            """
    }

    private func height(of table: Table) -> Int { 44 + shown(table).count * Self.lineHeight }

    private func shown(_ table: Table) -> [Row] { table.rows.filter { $0.rate != nil } }

    private func panel(_ table: Table, x: Int, y: Int) -> String {
        let rows = shown(table)
        let longest = rows.compactMap(\.rate).max() ?? 1
        // A time is drawn as its inverse, so that longer is better everywhere.
        let isTime = table.unit == .milliseconds
        let unit = isTime ? "" : "; " + table.unit.rawValue
        var text = """
            <text class="name" x="\(x)" y="\(y + 12)">\(escaped(table.name))</text>
            <text class="quiet" x="\(x)" y="\(y + 28)">\(escaped(table.title + unit))</text>

            """
        for (index, row) in rows.enumerated() {
            guard let rate = row.rate else { continue }
            let line = y + 36 + index * Self.lineHeight
            let length = max(1, Int((rate / longest * Double(Self.barWidth)).rounded()))
            let kind = row.variant.engine == .log ? "log" : row.variant.engine == .floor ? "floor" : "peer"
            let bar = x + Self.labelWidth
            let figure = isTime ? formatted(1000 / rate) + " ms" : formatted(rate)
            let ratio = table.ratio(of: row, to: .log).map { " (\(formatted($0))×)" } ?? ""
            text += """
                <text x="\(bar - 8)" y="\(line + 12)" text-anchor="end">\(escaped(row.variant.label))</text>
                <rect class="\(kind)" x="\(bar)" y="\(line + 2)" width="\(length)" height="13" rx="2"/>
                <text class="quiet" x="\(bar + length + 6)" y="\(line + 12)">\(figure)\(ratio)</text>

                """
        }
        return text
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
