// `inspect events`, `tables`, `indexes`, `unreadable`, `outbox`, `operations`: the meaning of the records in the log, and the content
// of the state that they produce.

import SegmentLog
import Syncline

enum InspectStoreCommands {
    static let events = Command(
        "inspect events", "count the events of the log, by kind and table",
        details: ["STORED is their share of the frames on the disk. `syncline log` lists them."],
        examples: [Example("syncline inspect events", "the number and size of each kind")],
        result:
            #"[{"kind","table","several":bool,"events":n,"bytes":n,"storedBytes":n,"ratio":n,"first":"@1","last":"@41"}]"#,
        exits: [Exit(.partial, "some events can't be read")]
    ) { arguments, context in
        let reading = EventReading(try context.storage(arguments), context)
        let counts = try context.whileReading("reading") {
            try HistoryReading.run(reading.storage) { try EventCounts(byTable: reading.storage, lost: reading.tell) }
        }
        let style = context.output.style
        var list = try ListWriter(
            context.output,
            [
                "KIND", "TABLE", Column("EVENTS", .right), Column("BYTES", .right), Column("STORED", .right),
                Column("RATIO", .right), "FIRST", "LAST",
            ])
        for group in counts.groups {
            try list.row(
                [
                    Cell(group.kind), Cell(group.subject.text), Cell(style.count(group.count)),
                    Cell(style.bytes(group.bytes)), Cell(style.bytes(group.storedBytes)),
                    Cell(group.ratio.map { decimal($0, places: 2) } ?? "–"), Cell("@\(group.first)", .address),
                    Cell("@\(group.last)", .address),
                ], json: group.json)
        }
        return try list.finish()
    }

    static let tables = Command(
        "inspect tables", "list the tables of the store",
        options: [.at], examples: [Example("syncline inspect tables", "with rows, pending changes and columns")],
        result:
            #"[{"table","rows":n,"pending":n,"conflicts":n,"cursors":n,"columns":["…"],"localColumns":["…"],"types":{…},"local":false,"unfit":{…}}]"#
    ) { arguments, context in
        let reader = try await context.view(arguments, at: arguments.value("at")).reader
        var list = try ListWriter(
            context.output,
            [
                "TABLE", Column("ROWS", .right), Column("PENDING", .right), Column("CONFLICTS", .right),
                Column("CURSORS", .right), "COLUMNS",
            ])
        let style = context.output.style
        for table in try StoreStatus.Table.all(reader, PushCounts.byTable(reader)) {
            try list.row(
                [
                    Cell(escaped(table.name)), Cell(style.count(table.rows)), Cell(style.count(table.pending)),
                    Cell(style.count(table.undecided)), Cell(style.count(table.cursors)), Cell(table.columnText),
                ],
                json: table.json)
        }
        return try list.finish()
    }

    static let indexes = Command(
        "inspect indexes", "list the indexes of tables",
        options: [.at], examples: [Example("syncline inspect indexes", "all of them")],
        result: #"[{"table","columns","including"}]"#
    ) { arguments, context in
        let reader = try await context.view(arguments, at: arguments.value("at")).reader
        var list = try ListWriter(context.output, ["TABLE", "COLUMNS", "INCLUDING"])
        for table in try reader.tables() {
            for index in try reader.indexes(of: table) {
                try list.row(
                    [
                        Cell(escaped(table)), Cell(escaped(index.columns.joined(separator: ", "))),
                        Cell(escaped(index.including.joined(separator: ", "))),
                    ],
                    json: [
                        "table": .string(table), "columns": .array(index.columns.map(JSONValue.string)),
                        "including": .array(index.including.map(JSONValue.string)),
                    ])
            }
        }
        return try list.finish()
    }

    static let unreadable = Command(
        "inspect unreadable", "list the server's rows that can't be read",
        details: [
            """
            A row leaves the list when the server sends it readable or deleted, and when its table is purged; a row \
            without an id, when a pull of the whole table (without --query-id, or with --reconcile) does not receive it.
            """
        ],
        options: [.at],
        examples: [Example("syncline inspect unreadable", "which rows, and why they can't be read")],
        result: #"[{"table","id","place":n,"reason"}]"#
    ) { arguments, context in
        let reader = try await context.view(arguments, at: arguments.value("at")).reader
        var list = try ListWriter(context.output, ["TABLE", "ROW", "REASON"])
        for row in try reader.unreadableRows() {
            try list.row(
                [
                    Cell(escaped(row.table)), Cell(row.id.map(escaped) ?? "row \(row.place) of a page"),
                    Cell(escaped(row.reason)),
                ],
                json: [
                    "table": .string(row.table), "id": .optional(row.id), "place": .number(row.place),
                    "reason": .string(row.reason),
                ])
        }
        return try list.finish()
    }

    static let outbox = Command(
        "inspect outbox", "show the operations with their changes",
        details: ["Each change is listed with the rule that combined it with earlier ones, and with the result."],
        options: [.at], examples: [Example("syncline inspect outbox", "show how changes were combined")],
        result:
            #"[{"address":"~1",… as in pending,"place","changes":[{"event":"@3","kind","columns","rule","result"}]}]"#
    ) { arguments, context in
        let reader = try await context.view(arguments, at: arguments.value("at")).reader
        let operations = try reader.outbox()
        try context.output.beginList()
        for (index, report) in operations.enumerated() {
            try context.output.element(OutboxJSON.json(report, number: index + 1))
            guard context.output.form.isText else { continue }
            for line in StepperScreen.lines(report, number: index + 1) { try context.output.line(line) }
        }
        try context.output.endList()
        return .done
    }

    static let operations = Command(
        "inspect operations", "account for every change that this app made",
        details: [
            """
            Each change is unconfirmed (to be pushed), done, superseded (part of a later change's operation, or \
            cancelled out by one), cancelled (undone, dropped or purged) or resolved.
            """
        ],
        options: [
            Option("list", "list every change with its fate, and the event that decided it"),
            Option(
                "fate", value: "FATE", choices: Fate.allCases.map(\.rawValue), "with --list: changes with this fate"
            ).needing("list"),
            Option("table", value: "TABLE", "with --list: changes of this table").needing("list"),
        ],
        examples: [
            Example("syncline inspect operations", "was any change lost?"),
            Example("syncline inspect operations --list --fate cancelled", "undone, dropped and purged changes"),
        ],
        result:
            #"""
            {"made":n,"unconfirmed":n,"done":n,"superseded":n,"cancelled":n,"resolved":n,"balanced":bool,\#
            "differences":[…]}; with --list [{"change":"@5","index":n,"table","id","kind","fate","by":"@9"}]
            """#,
        exits: [Exit(.done, "every change is accounted for"), Exit(.no, "the counts disagree")]
    ) { arguments, context in
        let reading = EventReading(try context.storage(arguments), context)
        let claim = HistoryReading.claim(reading.storage)
        defer { claim?.release() }
        let (rows, known) = try context.whileReading("reading") { try account(reading.storage) }
        let isListed = arguments.flag("list")
        let (fate, table) = (arguments.value("fate"), arguments.value("table"))
        var list = try isListed ? ListWriter(context.output, ["CHANGE", "KIND", "ROW", "FATE", "BY"]) : nil
        var hasTable = false
        func add(_ change: ChangeFate) throws {
            if change.table == table { hasTable = true }
            if fate ?? change.fate.rawValue != change.fate.rawValue || table ?? change.table != change.table { return }
            try list?.row(
                [
                    Cell("@\(change.position.event)", .address), Cell("\(change.kind)"),
                    Cell(escaped("\(change.table)/\(change.id)")), Cell(change.fate.rawValue),
                    Cell(change.event.map { "@\($0)" } ?? "", .address),
                ], json: change.json)
        }
        var accounting: Accounting
        if let known, !isListed {
            accounting = known
        } else {
            let start = try StateLoader(reading.storage).earliest()
            let first = start.through + 1
            accounting = try Accounting(from: start, folding: rows)
            try context.whileListing("reading") {
                try reading.forEachRecord(from: first) { number, record in
                    try accounting.fold(record, number: number, add)
                    return true
                }
            }
        }
        var result = try accounting.finish(add)
        // Rows that were not folded are compared with what the store itself has counted.
        if known != nil, !rows.areAll {
            result.totals = try StateLoader(reading.storage).load(through: result.through).totals
        }
        // A table that is not there any more may have changes.
        if let table, !hasTable { try context.check(table: table, try await context.view(arguments).reader) }
        if isListed {
            try list?.finish()
        } else {
            try context.output.value(result.json)
            for (name, count) in result.named { try context.output.line("\(name.padded(to: 12))\(count)") }
        }
        for difference in result.differences {
            context.narration.warn("\(difference.name): \(difference.found) found, \(difference.counted) counted")
        }
        let verdict = result.isBalanced ? "every change is accounted for" : "the counts disagree"
        if !isListed {
            try context.output.line(context.output.style.paint(verdict, result.isBalanced ? .good : .bad))
        }
        return result.isBalanced ? .done : .no
    }

    /// Finds the rows that an accounting must fold, and returns its result; all rows and nil if it would meet a loss.
    private static func account(_ storage: any LogStorage) throws -> (rows: FoldedRows, Accounting?) {
        var rows = FoldedRows()
        while true {
            let start = try StateLoader(storage).earliest()
            let first = start.through + 1
            var accounting = try Accounting(from: start, folding: rows)
            var isLost = false
            do {
                try LogInspection(storage).forEachRecord(from: first) { number, record in
                    try accounting.fold(record, number: number)
                    return !isLost
                } lost: {
                    isLost = isLost || $0.isLoss
                }
            } catch is SyncError {
                isLost = true
            }
            if isLost { return (FoldedRows(areAll: true), nil) }
            guard let missing = accounting.missing else { return (rows, accounting) }
            rows = missing
        }
    }
}

extension ChangeFate {
    fileprivate var json: JSONValue {
        [
            "change": .string("@\(position.event)"), "index": .number(position.index), "table": .string(table),
            "id": .string(id), "kind": .string("\(kind)"), "fate": .string(fate.rawValue),
            "by": .optional(event.map { "@\($0)" }),
        ]
    }
}

extension AccountingResult {
    fileprivate var named: [(String, UInt64)] {
        [("made", sums.made)] + Fate.allCases.map { ($0.rawValue, sums[$0]) }
    }

    fileprivate var json: JSONValue {
        let counts = named.map { JSONValue.Member(key: $0.0, value: .number($0.1)) }
        return JSONValue.object(counts).adding([
            "balanced": .boolean(isBalanced),
            "differences": .array(
                differences.map {
                    ["fate": .string($0.name), "counted": .number($0.counted), "found": .number($0.found)]
                }),
        ])
    }
}
