// `branch`: drafts on top of any moment of a store, which are landed as one transaction or dropped.

import SegmentLog
import Syncline

enum BranchCommands {
    private static let name = Operand("NAME", "the branch", isRequired: true)

    static let create = Command(
        "branch create", "create a draft that can be changed without changing the store",
        details: [
            """
            A branch starts with the state of the store, now or at a moment, including pending changes, and has a log \
            of its own, which keeps all its history. With --branch NAME, commands read it and change its rows; `push`, \
            `pull`, `purge`, `drop`, `hold` and `resolve` are refused.
            """
        ],
        operands: [Operand("NAME", "letters, digits, - and _", isRequired: true)],
        options: [
            .at
        ],
        examples: [
            Example("syncline branch create draft", "create a branch of the present state"),
            Example("syncline branch create past --at @12", "create one of the past"),
        ],
        result: #"{"branch":"…","at":"@41"}"#
    ) { arguments, context in
        let store = try context.path(changing: arguments)
        let storage = POSIXStorage(directory: store)
        let name = arguments.operands[0]
        let event = try arguments.value("at").map { try context.event(at: $0, storage) }
        _ = try Branches.removeLeftovers(storage)
        let id = SystemEnvironment().newID()
        let through = try context.whileReading("reading") {
            try Branch.create(
                name, at: event, of: store, { BranchPoint(id: id, event: $0) }, now: context.clock.now().rawValue)
        }
        return try context.output.result(
            ["branch": .string(name), "at": .string("@\(through)")], "\(name) begins after @\(through)")
    }

    static let list = Command(
        "branch list", "list the branches of the store",
        examples: [Example("syncline branch list", "show where each begins, and what it would change")],
        result: #"[{"branch","at":"@41","changes":n,"moved":n,"landed":bool}, or {"branch","damage":"…"}]"#,
        exits: [Exit(.partial, "a branch can't be read; the others are listed")]
    ) { arguments, context in
        let view = try await context.view(arguments)
        let store = try context.path(reading: arguments)
        var list = try ListWriter(
            context.output, ["BRANCH", "AT", Column("CHANGES", .right), Column("MOVED", .right), ""])
        for name in try Branches.names(POSIXStorage(directory: store)) {
            do {
                let branch = try Branch(name, of: store)
                let landing = try Landing(from: branch.base, to: branch.present, onto: view.reader)
                let isLanded = try view.reader.setting(branch.point.landed) != nil
                try add(branch, landing, isLanded: isLanded, to: &list)
            } catch {
                guard let error = ToolError(error), unreadable.contains(error.code) else { throw error }
                context.output.notePartial()
                context.narration.warn("the branch \(name) can't be read: \(error.message)")
                try list.row(
                    [Cell(name), Cell(""), Cell(""), Cell(""), Cell("damaged", .bad)],
                    json: ["branch": .string(name), "damage": .string(error.message)])
            }
        }
        return try list.finish()
    }

    /// The codes of errors about a single branch.
    private static let unreadable: Set<String> = ["store-corrupt", "store-newer", "no-store", "collected", "io-error"]

    private static func add(
        _ branch: Branch, _ landing: Landing, isLanded: Bool, to list: inout ListWriter
    ) throws {
        try list.row(
            [
                Cell(branch.name), Cell("@\(branch.point.event)", .address), Cell("\(landing.changes.count)"),
                Cell("\(landing.moved.count)"), Cell(isLanded ? "landed" : ""),
            ],
            json: [
                "branch": .string(branch.name), "at": .string("@\(branch.point.event)"),
                "changes": .number(landing.changes.count), "moved": .number(landing.moved.count),
                "landed": .boolean(isLanded),
            ])
    }

    static let diff = Command(
        "branch diff", "show what a branch changed since it was created",
        operands: [name], options: [Option("stat", "only count rows"), .redact],
        examples: [Example("syncline branch diff draft", "by row and field")],
        result: "as `diff`",
        exits: [Exit(.done, "nothing differs"), Exit(.no, "something differs")]
    ) { arguments, context in
        let branch = try Branch(arguments.operands[0], of: try context.path(reading: arguments))
        var differences: [RowDifference] = []
        try branch.base.differences(to: branch.present) { differences.append($0) }
        try DiffCommand.show(differences, arguments, context)
        return differences.isEmpty ? .done : .no
    }

    static let plan = Command(
        "branch plan", "show what landing a branch would change in the store",
        details: [
            """
            MOVED marks rows that have changed in the store since. `branch land` refuses them without --over.
            """
        ],
        operands: [name], examples: [Example("syncline branch plan draft", "show the transaction, row by row")],
        result: #"[{"table","id","kind","columns":{…},"moved":bool}]"#,
        exits: [
            Exit(.done, "none of the rows has changed in the store"),
            Exit(.no, "some of the rows have changed"),
        ]
    ) { arguments, context in
        let view = try await context.view(arguments)
        let branch = try Branch(arguments.operands[0], of: try context.path(reading: arguments))
        let landing = try Landing(from: branch.base, to: branch.present, onto: view.reader)
        var list = try ListWriter(context.output, ["ROW", "KIND", "MOVED", "COLUMNS"])
        for change in landing.changes {
            try list.row(
                [
                    Cell(escaped("\(change.table)/\(change.id)")), Cell("\(change.kind)"),
                    Cell(change.hasMoved ? "moved" : "", .warning),
                    Cell(escaped(change.columns.columns.joined(separator: ", "))),
                ], json: change.json)
        }
        try list.finish()
        return landing.moved.isEmpty ? .done : .no
    }

    static let land = Command(
        "branch land", "store the changes of a branch as one transaction, and remove the branch",
        details: [
            """
            `undo` undoes the changes together while none of them is pushed. If their rows were also changed in the \
            store, nothing is stored and they are listed. If a file of the branch can't be removed, `reason` and \
            `address` say so, and `branch drop` removes the rest. After a kill, a branch may be marked as landed: \
            landing it again only removes it.
            """
        ],
        operands: [name], options: [Option("over", "also change rows that changed in the store since")],
        examples: [Example("syncline branch land draft", "land it; `push` then sends it like any other change")],
        result: #"{"branch","event":"@57" or null,"changes":[… as in plan],"reason","message","address"}"#,
        exits: [
            Exit(.failed, "rows have changed in the store since, or it could not be done"),
            Exit(.partial, "it is landed, but a file of the branch could not be removed"),
        ]
    ) { arguments, context in
        let name = arguments.operands[0]
        let store = try context.path(changing: arguments)
        let over = arguments.flag("over")
        let (event, changes) = try await context.withDatabase(arguments) { database in
            let known = try Branch(name, of: store)
            // Nothing changes it meanwhile.
            let open = try await SyncDatabase.open(at: known.path)
            do {
                let done = try await database.land(known.point, from: known.base, to: open.reader, over: over)
                try? await open.close()
                return done
            } catch {
                try? await open.close()
                throw error
            }
        }
        var left: JSONValue = [:]
        do throws(SyncError) {
            try Branches.remove(name, of: POSIXStorage(directory: store))
        } catch {
            context.output.notePartial()
            left = [
                "reason": .string(error.code.rawValue), "message": .string(error.message),
                "address": .optional(error.address),
            ]
            let place = error.address.map { "\($0): " } ?? ""
            context.narration.warn("\(name) is landed, but a file of it could not be removed: \(place)\(error.message)")
            context.narration.hint("Remove the rest: `syncline branch drop \(name)`.")
        }
        let landed: JSONValue = [
            "branch": .string(name), "event": .optional(event.map { "@\($0)" }),
            "changes": .array(changes.map(\.json)),
        ]
        try context.output.value(landed.adding(membersOf: left))
        let rows = counted(UInt64(changes.count), "row")
        try context.output.line(
            event.map { "landed \(name) in @\($0): \(rows)" } ?? "removed \(name): it had no changes left to land")
        return .done
    }

    static let drop = Command(
        "branch drop", "remove a branch with its changes",
        details: [
            """
            If a file can't be removed, the error names it: drop the branch again.
            """
        ],
        operands: [name], examples: [Example("syncline branch drop draft", "remove it without landing it")],
        result: #"{"dropped":"…"}"#
    ) { arguments, context in
        let name = arguments.operands[0]
        let store = POSIXStorage(directory: try context.path(changing: arguments))
        let known = try Branches.names(store)
        if known.contains(name) {
            try Branches.remove(name, of: store)
        } else if try !Branches.removeLeftovers(store).contains(name) {
            throw ToolError.missingBranch(name, known)
        }
        return try context.output.result(["dropped": .string(name)], "dropped \(name)")
    }
}

extension Landing.Change {
    fileprivate var json: JSONValue {
        [
            "table": .string(table), "id": .string(id), "kind": .string("\(kind)"), "columns": JSONValue(columns),
            "moved": .boolean(hasMoved),
        ]
    }
}
