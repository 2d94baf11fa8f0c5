// All questions of an assistant, in the order in which it sees them.

import SynclineCore

extension Question {
    /// - Parameter writes: Whether those that change the store are among them.
    static func all(writes: Bool, isMasked: Bool) -> [Question] {
        let offered = isMasked ? reading.filter { $0.masking != .refused } : reading
        return writes ? offered + writing : offered
    }

    private static let row = Parameter.operand("row", "TABLE/ID")
    private static let at = Parameter.option("at", "the moment: @41, yesterday, 2026-05-19T21:30Z (default: now)")

    private static let reading = [
        Question(
            name: "status", summary: "Is the store well? Health, outbox, last syncs, cursors, tables, what to do next.",
            command: ["status"], rest: "the tables are in `sql`: select * from syncline_tables"),
        Question(
            name: "row",
            summary: "Why does a row have its values, why is it not pushed, why is it missing, and what to do next?",
            command: ["why"], parameters: [.operand("row", "TABLE/ID, or TABLE/ID.FIELD for one field"), at],
            kept: .ends, rest: "ask for one field, as TABLE/ID.FIELD"),
        Question(
            name: "log", summary: "What happened? Events of the store or of one row, the newest last.",
            command: ["log"],
            parameters: [
                .option("row", "only events of this row: TABLE/ID"), .option("table", "only events of this table"),
                .option("kind", "only this kind: \(EventKind.causes.joined(separator: ", "))"),
                .option("since", "only from this moment on: @41, \"2 hours ago\""), at,
                .option("limit", "how many (default: 12)", .count, fallback: "12"),
            ], kept: .last, rest: "for older ones, set `at` to an event before these"),
        Question(
            name: "event", summary: "What is in one event, also the answer of the server?", command: ["show"],
            parameters: [.operand("event", "its number: @41, or @-1 for the last", .event)], shows: .values,
            rest: "ask `log` for one row of it"),
        Question(
            name: "pending", summary: "What is not pushed yet, in which state, and what will it meet?",
            command: ["pending"], parameters: [at], shows: .values,
            rest: "count them in `sql`: select * from syncline_outbox",
            masking: .none),
        Question(
            name: "conflicts", summary: "What waits for a decision: conflicts, and what the server refused, and why?",
            command: ["conflicts"], parameters: [at], shows: .values,
            rest: "count them in `sql`: select * from syncline_conflicts"),
        Question(
            name: "sync",
            summary: "What would a sync do? Asks the server, and neither sends nor stores anything.",
            command: ["sync", "--dry-run", "--retries=0"],
            parameters: [.operand("table", "only this table", isRequired: false)], rest: "ask for one table",
            masking: .refused),
        Question(
            name: "diff", summary: "What changed between two events, by row and field?", command: ["diff"],
            parameters: [
                .operand("from", "the state after this event: @41", .event),
                .operand("to", "and after this one (default: now)", isRequired: false, .event),
                .option("table", "only this table"),
            ], rest: "ask for one table, or for events that are closer together"),
        Question(
            name: "search", summary: "Where is a string, now and in the past?", command: ["search"],
            parameters: [
                .operand("text", "the string"), .option("table", "only in this table"),
                .option("since", "only in events from this moment on"),
                .option("limit", "how many rows and events (default: 10)", .count, fallback: "10"),
            ], shows: .values, rest: "ask for one table"),
        Question(
            name: "sql",
            summary: """
                What does a SELECT on the tables say? "todoitem@41" is a table as of an event. Also syncline_outbox, \
                syncline_conflicts, syncline_cursors, syncline_events and syncline_tables.
                """,
            command: ["sql"], parameters: [.operand("statement", "the SELECT statement"), at], shows: .values,
            rest: "select fewer columns, or add LIMIT and OFFSET"),
        Question(
            name: "bisect", summary: "At which event did a condition become true?", command: ["replay"],
            parameters: [
                .option(
                    "condition",
                    """
                    as todoitem/a (it exists), not todoitem/a, todoitem/a.text eq 'milk', count(todoitem) ge 10, \
                    pending gt 3, conflicts ge 1
                    """, of: "bisect", isRequired: true),
                .option("from", "search from this event on", .event), .option("to", "search up to it", .event),
            ], rest: "ask `event`"),
        Question(
            name: "unreadable", summary: "Which rows of the server can't be read, and why?",
            command: ["inspect", "unreadable"], parameters: [at], shows: .values, rest: "the reasons are alike"),
        Question(
            name: "verify", summary: "Is a file of the store damaged, where, what is lost, and what is the remedy?",
            command: ["verify"], rest: "`syncline verify --json` lists all", masking: .none),
    ]

    private static let writing = [
        Question(
            name: "retry", summary: "Send a refused or conflicting change again with the next push.",
            command: ["resolve", "--keep-mine"], parameters: [row], rest: "", masking: .none, writes: true),
        Question(
            name: "discard", summary: "Drop the pending changes of a row: it becomes the server's.",
            command: ["drop"], parameters: [row], rest: "", masking: .none, writes: true),
        Question(
            name: "undo", summary: "Undo the last local transaction, which must not be pushed.", command: ["undo"],
            rest: "", masking: .none, writes: true),
        Question(
            name: "restore", summary: "Make the transaction again that was undone last.", command: ["redo"],
            rest: "", masking: .none, writes: true),
    ]
}
