// The question that follows an answer. Pure: it goes by the values of the answer, and never by its text.

struct NextQuestion: Hashable {
    var question: String
    var arguments: [JSONValue.Member] = []

    /// Longer arguments, as of a row with a very long id, are not repeated.
    private static let limit = 300

    init(_ question: String, _ arguments: KeyValuePairs<String, String> = [:]) {
        self.question = question
        self.arguments = arguments.map { .init(key: $0.key, value: .string($0.value)) }
        if JSONValue.object(self.arguments).text.utf8.count > Self.limit { self.arguments = [] }
    }

    /// `next: row {"row":"todoitem/a"}`
    var line: String { "next: \(question) \(JSONValue.object(arguments).text)" }

    /// - Parameters:
    ///   - asked: The arguments of the question that was answered.
    ///   - values: The values of its answer.
    init(after question: String, _ asked: [JSONValue.Member], _ values: [JSONValue]) {
        let first = values.first ?? .null
        if let code = first["error"]?["code"]?.string {
            self = NextQuestion(after: code)
            return
        }
        switch question {
        case "status": self = Self.afterStatus(first)
        case "row": self = Self.afterRow(first, asked.last { $0.key == "row" }?.value.string ?? "")
        case "log": self = Self.afterLog(values)
        case "event": self = Self.afterEvent(first)
        case "pending": self = Self.afterPending(values)
        case "conflicts": self = Self.row(of: first) ?? NextQuestion("pending")
        case "sync":
            let found = (first["conflictRows"]?.elements ?? []) + (first["rows"]?.elements ?? [])
            self = found.first.flatMap { Self.row(of: $0) } ?? NextQuestion("pending")
        case "diff", "sql": self = Self.row(of: first) ?? NextQuestion("log")
        case "search":
            let event = values.last { $0["event"]?.string != nil }?["event"]?.string
            self = Self.row(of: first) ?? event.map { NextQuestion("event", ["event": $0]) } ?? NextQuestion("status")
        case "bisect":
            let event = first["event"]?["address"]?.string
            self = event.map { NextQuestion("event", ["event": $0]) } ?? NextQuestion("log")
        case "unreadable": self = Self.row(of: first) ?? NextQuestion("log", ["kind": "pull"])
        case "retry", "discard": self = NextQuestion("pending")
        case "undo", "restore": self = NextQuestion("log")
        default: self = NextQuestion(question == "verify" ? "log" : "status")
        }
    }

    /// After an error.
    private init(after code: String) {
        switch code {
        case "store-corrupt", "collected", "io-error": self = NextQuestion("verify")
        default: self = NextQuestion("status")
        }
    }

    private static func afterStatus(_ status: JSONValue) -> NextQuestion {
        let (outbox, log) = (status["outbox"] ?? .null, status["log"] ?? .null)
        func waits(_ states: String...) -> Bool { states.contains { outbox[$0]?.isPositive == true } }
        if log["damage"]?.isPositive == true { return NextQuestion("verify") }
        if waits("conflict", "parked") { return NextQuestion("conflicts") }
        if status["unreadable"]?.isPositive == true { return NextQuestion("unreadable") }
        if waits("toPush", "held", "after", "waiting") { return NextQuestion("pending") }
        return NextQuestion("log")
    }

    private static func afterRow(_ row: JSONValue, _ asked: String) -> NextQuestion {
        let near = row["near"]?.elements.first?.string
        if let near, near.contains("/") { return NextQuestion("row", ["row": near]) }
        switch row["visibility"]?.string {
        case "unknown": return NextQuestion("status")
        case "hidden": return address(of: row).map { NextQuestion("log", ["row": $0]) } ?? NextQuestion("log")
        default: break
        }
        if row["field"] != nil, row["fields"]?.elements.isEmpty == true {
            return NextQuestion("log", ["kind": "declared"])
        }
        if row["operations"]?.elements.contains(where: { $0["why"]?.string == "conflict" }) == true {
            return NextQuestion("conflicts")
        }
        return NextQuestion("log", ["row": address(of: row) ?? asked])
    }

    /// The newest event that went wrong, or else the newest.
    private static func afterLog(_ events: [JSONValue]) -> NextQuestion {
        let wrong = events.last { event in
            event["kind"]?.string == "answer" && event["outcome"]?.string != "done"
                || event["unreadable"]?.elements.isEmpty == false
        }
        guard let address = (wrong ?? events.last)?["address"]?.string else { return NextQuestion("status") }
        return NextQuestion("event", ["event": address])
    }

    /// What the event changed.
    private static func afterEvent(_ event: JSONValue) -> NextQuestion {
        guard let address = event["address"]?.string, let number = UInt64(address.dropFirst()), number > 0 else {
            return NextQuestion("log")
        }
        if let row = row(of: event) { return row }
        return number > 1 ? NextQuestion("diff", ["from": "@\(number - 1)", "to": address]) : NextQuestion("log")
    }

    /// The row of the operation that says most.
    private static func afterPending(_ operations: [JSONValue]) -> NextQuestion {
        func place(_ operation: JSONValue) -> Int {
            switch operation["state"]?.string {
            case "conflict", "parked": 0
            case "held": 1
            case "in-flight": 2
            default: operation["maybeSent"] == .boolean(true) ? 2 : operation["expects"]?.string != nil ? 3 : 4
            }
        }
        return operations.min { place($0) < place($1) }.flatMap { row(of: $0) } ?? NextQuestion("log")
    }

    private static func row(of value: JSONValue) -> NextQuestion? {
        address(of: value).map { NextQuestion("row", ["row": $0]) }
    }

    private static func address(of value: JSONValue) -> String? {
        guard let table = value["table"]?.string, let id = value["id"]?.string, !table.isEmpty else { return nil }
        return "\(table)/\(id)"
    }
}
