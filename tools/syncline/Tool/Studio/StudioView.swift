// The view that an address of the page names, as the command that shows the same in a shell. The members of the body are
// those of the address; what a person may write into them follows `--` or an equals sign, so it is never an option.

import SynclineCore
import SynclineGround

struct StudioView {
    private let body: Value

    init(_ body: Value) {
        self.body = body
    }

    private func text(_ name: String) -> String? {
        guard case .string(let text)? = body[member: name], !text.isEmpty else { return nil }
        return text
    }

    var name: String { text("view") ?? "" }

    /// The moment; nil for the present.
    private var event: UInt64? { text("at").flatMap { UInt64($0) } }
    private var at: [String] { event.map { ["--at=@\($0)"] } ?? [] }
    private func option(_ name: String, _ option: String) -> [String] { text(name).map { ["--\(option)=\($0)"] } ?? [] }

    /// The statement of the SQL page.
    var question: StudioSQL.Question? {
        guard name == "sql", let statement = text("statement") else { return nil }
        return .init(statement: statement, event: event, ticket: "export")
    }

    /// The command as a person types it.
    var command: String? { words.map { (["syncline"] + $0).map(shellWord).joined(separator: " ") } }

    /// The words of the command; nil if there is none, or if something is not chosen yet.
    var words: [String]? {
        switch name {
        case "status": ["status"]
        case "events": events
        case "event": ["show", event.map { "@\($0)" } ?? "@-1"]
        case "row": text("row").map { ["why"] + at + ["--", $0 + (text("field").map { ".\($0)" } ?? "")] }
        case "tables": rows
        case "sql": question?.words
        case "outbox": ["inspect", "outbox"] + at
        case "conflicts": ["conflicts"] + at
        case "syncs": ["sql", StudioView.statement(causes: StudioView.syncs)]
        case "debugger": text("ask").flatMap { $0 == "resolve" ? nil : StudioDebugger.words($0, body) }
        case "log": bytes
        default: nil
        }
    }

    private var rows: [String]? {
        guard let table = text("table") else { return nil }
        if let search = text("search"), text("by") == "history" {
            return ["search", "--history", "--table=\(table)", "--", search]
        }
        if let search = text("search") { return ["search", "--rows", "--table=\(table)"] + at + ["--", search] }
        return ["query"] + option("filter", "filter") + option("order", "orderby") + at + ["--", table]
    }

    private var bytes: [String] {
        guard let place = text("bytes") else { return ["inspect", "segments"] }
        if place == "sizes" { return ["inspect", "events"] }
        let isFile = !place.contains { ":@".contains($0) } && !Address.isSmallFile(place)
        return isFile ? ["inspect", "frames", "--", place] : ["inspect", "frame", "--bytes", "--", place]
    }

    // MARK: Events

    private static let syncs = ["sent", "answer", "server-worked", "pull", "purge", "cursor-reset"]

    /// `log` knows one kind at most, and no outcomes; the rest are statements.
    private var events: [String]? {
        let causes = (text("kind") ?? "").split(separator: ",").map(String.init)
        let outcome = text("outcome")
        guard causes.count > 1 || causes == ["lost"] || outcome != nil else {
            let row = option("only", "row")
            return ["log"] + causes.map { "--kind=\($0)" } + (row.isEmpty ? option("in", "table") : row)
        }
        // The id is all after the slash.
        let row = text("only")?.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let outcomes = outcome == "problem" ? StudioIndex.problems.sorted() : outcome.map { [$0] } ?? []
        return [
            "sql",
            StudioView.statement(
                causes: causes, outcomes: outcomes, table: row?[0] ?? text("in"), id: row?.dropFirst().first),
        ]
    }

    private static func statement(
        causes: [String], outcomes: [String] = [], table: String? = nil, id: String? = nil
    ) -> String {
        func string(_ text: String) -> String { text.quoted(by: "'") }
        func one(_ column: String, of words: [String]) -> [String] {
            words.isEmpty ? [] : ["\(column) in (\(words.map(string).joined(separator: ", ")))"]
        }
        let conditions =
            one("cause", of: causes) + one("outcome", of: outcomes)
            + (table.map { ["\"table\" = \(string($0))"] } ?? []) + (id.map { ["id = \(string($0))"] } ?? [])
        return "select * from syncline_events where " + conditions.joined(separator: " and ")
    }
}
