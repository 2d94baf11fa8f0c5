// A view of the page as a file: what its command prints, as JSON or as CSV. The charts have no command; their file has
// the points.

import Syncline
import SynclineWire

struct StudioExport {
    let data: StudioData
    let debugger: StudioDebugger
    let sql: StudioSQL
    /// A larger file is refused: the shell is the place for it.
    var limit = 16 << 20

    /// The content of the file.
    func text(_ view: StudioView, isCSV: Bool) throws -> String {
        let text = try json(view)
        guard isCSV else { return text }
        let value = try Value(json: text.utf8)
        if case .array(let elements) = value { return CSVText.table(elements) }
        return CSVText.table([value])
    }

    private func json(_ view: StudioView) throws -> String {
        if view.name == "charts" {
            let points = try Value(json: data.chart().text.utf8)[member: "points"]
            return JSONValue(points ?? .array([])).text + "\n"
        }
        if let question = view.question { return try sql.rows(question, limit: limit).text + "\n" }
        guard let words = view.words else { throw ToolError.usage("no command shows this view") }
        let text = debugger.run(words, .json, limit: limit).text
        guard text.utf8.count < limit else { throw StudioExport.tooLarge(limit) }
        guard let error = try Value(json: text.utf8)[member: "error"],
            case .string(let message)? = error[member: "message"]
        else { return text }
        throw ToolError.usage(message)
    }

    static func tooLarge(_ limit: Int) -> ToolError {
        ToolError(
            "too-large", "the file would have more than \(limit >> 20) MiB",
            hint: "Run the command in a shell, with --json.")
    }
}
