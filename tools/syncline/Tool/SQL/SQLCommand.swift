// `sql`: SELECT statements on the tables of a store, now or at an earlier moment.

import Syncline
import SynclineCore
import SynclineInspect
import SynclineSQL
import SynclineWire

enum SQLCommand {
    static let command = Command(
        "sql", "run a SELECT statement on the tables",
        details: [
            """
            The tables of the store are tables of the statement. \"todoitem@41\" is a table as of event 41, so that two \
            moments can be compared in one statement. syncline_outbox, syncline_conflicts, syncline_cursors, \
            syncline_events and syncline_tables are about the store itself. A statement that would write is refused.
            """
        ],
        operands: [
            Operand("STATEMENT", "the statement", isRequired: true),
            Operand("VALUE", "the value of a ? in the statement, as JSON; anything else is a string", repeats: true),
        ],
        options: [.at],
        examples: [
            Example("syncline sql 'select text, count(*) from todoitem group by text'", "how often each text occurs"),
            Example(
                "syncline sql 'select n.id, o.text, n.text from todoitem n join \"todoitem@41\" o using (id)'",
                "rows as they are, and as they were at event 41"),
            Example("syncline sql 'select * from todoitem where n > ?' 3", "a value that is bound"),
        ],
        result: #"[{"column":value…}…]"#
    ) { arguments, context in
        let view = try await context.view(arguments, at: arguments.value("at"))
        let values = arguments.operands.dropFirst().map { (try? Value(json: $0.utf8)) ?? .string($0) }
        let source = SQLSource(view.reader, event: view.through, view.storage)
        let running = try RunningStatement(arguments.operands[0], SQLArguments(values), on: source)
        var list = try ListWriter(context.output, running.columns.map { Column(escaped($0)) })
        while let row = try running.next() {
            try list.row(
                row.values.map { Cell(escaped(RowText.text($0))) },
                json: .object(zip(row.columns, row.values).map { .init(key: $0, value: JSONValue($1)) }))
        }
        try list.finish()
        return .done
    }
}
