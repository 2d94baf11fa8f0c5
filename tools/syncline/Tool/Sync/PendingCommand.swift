// `pending`: the operations that are not pushed yet, how large their requests are, and what they will meet.

import Syncline

enum PendingCommand {
    static let command = Command(
        "pending", "show the operations that are not pushed yet, in push order",
        details: [
            """
            The next push sends those whose STATE is pending or in-flight. Others, and later ones of the same row, \
            wait for a decision (conflict, parked) or for `release` (held).
            """,
            """
            BYTES is the size of the request's body. EXPECT names a conflict that the store already knows: the \
            server's row was changed (conflict) or deleted (row-gone), or a row with the id of an insert exists \
            (row-exists).
            """,
            """
            Changes of another process that the store has not taken in yet are `waiting`, with the address of their \
            commit. The next command that changes the store takes most of them in.
            """,
        ],
        options: [.at], examples: [Example("syncline pending", "show the operations of the next push")],
        result:
            #"""
            [{"address":"~1","table","id","kind","state":"pending|in-flight|conflict|parked|held|waiting","maybeSent":bool,\#
            "fields":[…],"events":"@3..9","bytes":n or null,"expects":"conflict|row-gone|row-exists" or null}]
            """#
    ) { arguments, context in
        let view = try await context.view(arguments, at: arguments.value("at"))
        let reader = view.reader
        let outlook = try RequestOutlook(reader)
        var list = try ListWriter(
            context.output, ["ADDRESS", "KIND", "STATE", "ROW", "FIELDS", Column("BYTES", .right), "EXPECT"])
        let onTheirWay = view.rowsOnTheirWay
        var (number, sent) = (0, 0)
        // There may be a million, so they are written as they are found.
        try PushPlan.forEach(reader) { found in
            var operation = found
            operation.mark(onTheirWay: onTheirWay)
            number += 1
            if operation.isToPush { sent += 1 }
            let fields = try PushPlan.fields(of: operation, reader)
            let size = try outlook.request(operation)?.size
            let expected = try outlook.conflict(operation)?.rawValue
            try list.row(
                [
                    Cell("~\(number)", .address), Cell("\(operation.kind)"), Cell(operation.state.rawValue),
                    Cell(escaped("\(operation.table)/\(operation.id)")),
                    Cell(escaped(fields.joined(separator: ", "))),
                    Cell(size.map { context.output.style.count($0) } ?? ""), Cell(expected ?? "", .warning),
                ],
                json: OutboxJSON.json(operation, fields: fields, number: number).adding([
                    "bytes": size.map { .number($0) } ?? .null, "expects": .optional(expected),
                ]))
        }
        for change in try arguments.value("at") == nil ? WaitingChange.all(context.storage(arguments)) : [] {
            try list.row(
                [
                    Cell(change.commit, .address), Cell("\(change.kind)"), Cell("waiting"),
                    Cell(escaped("\(change.table)/\(change.id)")),
                    Cell(escaped(change.columns.columns.joined(separator: ", "))), Cell(""), Cell(""),
                ],
                json: [
                    "address": .string(change.commit), "table": .string(change.table), "id": .string(change.id),
                    "kind": .string("\(change.kind)"), "state": .string("waiting"),
                    "fields": .array(change.columns.columns.map { .string($0) }),
                    "read": .string("@\(change.read.rawValue)"),
                ])
        }
        try list.finish()
        let waiting = number - sent
        if waiting > 0, context.output.form.isText {
            context.narration.say("\(sent) to push, \(waiting) waiting for a decision or a release")
        }
        return .done
    }
}
