// `sql`: SELECT statements on the tables of a store, now or at an earlier moment.

import Syncline
import SynclineSQL
import SynclineWire

enum SQLCommand {
    static let command = Command(
        "sql", "run a SELECT statement on the tables",
        details: [
            """
            The tables of the statement are those of the store, and "todoitem@41" is one as of event 41. \
            syncline_outbox, syncline_conflicts, syncline_cursors, syncline_events and syncline_tables are about the \
            store itself. A statement that would write is refused.
            """,
            """
            A value is JSON: 3, true, null or "3", the string. Anything else is a string. An integer of more than 64 \
            bits is refused, because SQL would round it. A value that starts with - and is not a number must follow \
            --.
            """,
        ],
        operands: [
            Operand("STATEMENT", "the statement", isRequired: true),
            Operand("VALUE", "the value of a ? in the statement", repeats: true),
        ],
        options: [
            Option("bind", value: "NAME=VALUE", "the value of :NAME, @NAME or $NAME in the statement"), .at,
        ],
        examples: [
            Example("syncline sql 'select text, count(*) from todoitem group by text'", "how often each text occurs"),
            Example(
                "syncline sql 'select n.id, o.text, n.text from todoitem n join \"todoitem@41\" o using (id)'",
                "rows now and as of event 41"),
            Example("syncline sql 'select * from todoitem where n > ?' -3", "a value that is bound"),
            Example("syncline sql 'select * from todoitem where n > :n' --bind n=-3", "the same value by a name"),
        ],
        result: #"[{"column":value…}…]"#
    ) { arguments, context in
        let view = try await context.view(arguments, at: arguments.value("at"))
        let source = SQLSource(view.reader, event: view.through, view.storage)
        let running = try RunningStatement(arguments.operands[0], try values(arguments), on: source)
        var list = try ListWriter(context.output, running.columns.map { Column(escaped($0)) })
        while let row = try running.next() {
            try list.row(
                row.values.map { Cell(escaped($0.plainText)) },
                json: .object(zip(row.columns, row.values).map { .init(key: $0, value: JSONValue($1)) }))
        }
        return try list.finish()
    }

    private static func values(_ arguments: Arguments) throws(ToolError) -> SQLArguments {
        var values = SQLArguments(try arguments.operands.dropFirst().map(value))
        for text in arguments.values(of: "bind") {
            guard let sign = text.firstIndex(of: "=") else {
                throw .usage("--bind takes NAME=VALUE, not `\(escaped(text))`")
            }
            let name = text[..<sign]
            let bare = name.first.map { ":@$".contains($0) } == true ? name.dropFirst() : name
            values.named[String(bare)] = try value(String(text[text.index(after: sign)...]))
        }
        return values
    }

    private static func isTooLarge(_ value: Value) -> Bool {
        switch value {
        case .number(let number): !number.isDouble
        case .array(let elements): elements.contains(where: isTooLarge)
        case .object(let members): members.contains { isTooLarge($0.value) }
        default: false
        }
    }

    /// A value from the command line: JSON, or else a string.
    private static func value(_ text: String) throws(ToolError) -> Value {
        let value: Value
        do throws(JSONError) { value = try Value(json: text.utf8) } catch { return .string(text) }
        if isTooLarge(value) {
            throw .usage(
                "the value \(escaped(text)) has a number that does not fit 64 bits",
                hint: "Write it in double quotes for a string, or with a decimal point for a rounded number.")
        }
        return value.unspelled
    }
}
