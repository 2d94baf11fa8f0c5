// `diff`: shows what changed between two moments of a store, between two stores, or between a store and its server.

import SegmentLog
import Syncline

enum DiffCommand {
    static let command = Command(
        "diff", "show what changed between two moments or two stores, by row and field",
        details: [
            """
            A and B are moments (@41, @-1, 2026-05-19T21:30Z), directories of other stores, or `server`. For `server` \
            the rows are read from the store's backend, without system columns. Each then has a cause: own (changed \
            here and not pushed), server (changed there since the last pull), both, or outside (no pulled query \
            matches it).
            """,
            """
            --log compares the events of two stores or reports byte by byte, and shows both sides of the first difference. With one operand, its log is compared with this store's.
            """,
        ],
        operands: [
            Operand("A", "a moment, a store, or `server`", isRequired: true),
            Operand("B", "another one (default: the present)"),
        ],
        options: [
            Option("stat", "only count rows").excluding("log"),
            Option(
                "cause", value: "CAUSE", choices: DifferenceCause.allCases.map(\.rawValue),
                "with `server`: only rows with this cause"
            ).excluding("log"),
            Option("table", value: "TABLE", "only this table").excluding("log"),
            Option("log", "compare the events of two logs, and show the first difference"),
            Option("ignore-times", "do not compare the times of events").needing("log"), .redact,
        ],
        examples: [
            Example("syncline diff @41", "show what changed since event 41"),
            Example("syncline diff ../other/.syncline", "compare this store with another"),
            Example("syncline diff server --table todoitem", "compare a table with the server"),
            Example("syncline diff --log ../other/.syncline", "find where two histories diverge"),
        ],
        result:
            #"""
            [{"table","id","change":"added|removed|changed","fields":[{"name","before","after"}],\#
            "cause":"own|server|both|outside" beside the server}]; with --log \#
            {"equal":bool,"compared":n,"from":"@1","first":"@12" or null,"left":{event},"right":{event},"members":[…]}
            """#,
        exits: [Exit(.done, "nothing differs"), Exit(.no, "something differs")], run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        if arguments.flag("log") { return try logs(arguments, context) }
        let operands = arguments.operands
        let usesServer = operands.contains("server")
        guard usesServer || arguments.value("cause") == nil else { throw ToolError.usage("--cause needs `server`") }
        let table = arguments.value("table")
        if let table { try await context.view(arguments).reader.declaration.check(table) }
        if let found = try moments(operands, arguments, context) {
            let differences = found.filter { table == nil || table == $0.table }
            if let table, differences.isEmpty {
                try context.check(table: table, try await context.view(arguments).reader)
            }
            try show(differences, arguments, context)
            return differences.isEmpty ? .done : .no
        }
        let before = try await side(operands[0], arguments, context)
        let after = try await side(operands.count > 1 ? operands[1] : nil, arguments, context)
        guard let local = before ?? after else { throw ToolError.usage("a server can't be compared with itself") }
        let server = try await usesServer ? fetch(local, table, arguments, context) : local
        var differences: [RowDifference] = []
        try (before ?? server).differences(to: after ?? server) { found in
            var difference = found
            if usesServer {
                difference.before = found.before?.own
                difference.after = found.after?.own
                if difference.isEmpty { return }
            }
            if table == nil || table == difference.table { differences.append(difference) }
        }
        guard usesServer else {
            try show(differences, arguments, context)
            return differences.isEmpty ? .done : .no
        }
        let causes = try DifferenceCauses(local)
        let found = try differences.map { difference in
            (difference, try causes.cause(of: difference, server: before == nil ? difference.before : difference.after))
        }.filter { arguments.value("cause") ?? $0.1.rawValue == $0.1.rawValue }
        try show(found.map(\.0), causes: found.map(\.1), arguments, context)
        return found.isEmpty ? .done : .no
    }

    /// Where the logs of two stores part.
    private static func logs(_ arguments: Arguments, _ context: Context) throws -> ExitCode {
        var paths = arguments.operands
        if paths.count == 1 { paths.insert(try StoreLocation.find(arguments, context.environment).path, at: 0) }
        let logs = try paths.map { POSIXStorage(directory: try context.path(reading: $0)) }
        let found = try context.whileReading("comparing") {
            try LogDiff(
                logs[0], logs[1], ignoresTimes: arguments.flag("ignore-times"), redacts: arguments.flag("redact"))
        }
        return try context.output.result(
            found.json,
            lines: found.lines((paths[0], paths[1]), context.output.style), exit: found.first == nil ? .done : .no)
    }

    /// What differs between two moments of the store; nil if something else is compared, or the log is damaged.
    private static func moments(
        _ operands: [String], _ arguments: Arguments, _ context: Context
    ) throws -> [RowDifference]? {
        guard context.host.session == nil, !operands.contains("server"), !operands.contains(where: isStore) else {
            return nil
        }
        let storage = try context.storage(arguments)
        let events = try operands.map { try context.event(at: $0, storage) }
        do throws(SyncError) {
            return try context.whileReading("reading") { () throws(SyncError) in
                try HistoryReading.run(storage) { () throws(SyncError) in
                    let last = try EventWalk(storage).last
                    let end = events.count > 1 ? events[1] : last
                    return try StateLoader(storage).differences(from: events[0], to: end)
                }
            }
        } catch {
            if error.code == .storeCorrupt { return nil }
            throw error
        }
    }

    /// A moment contains no slash.
    private static func isStore(_ text: String) -> Bool {
        text.contains("/") || isDirectory(text) || ReportShelf.isFile(text)
    }

    /// One side of the comparison; nil for the server's rows.
    private static func side(_ text: String?, _ arguments: Arguments, _ context: Context) async throws -> StateReader? {
        guard let text else { return try await context.view(arguments).reader }
        if text == "server" { return nil }
        if isStore(text) {
            let path = try context.path(reading: text)
            return try context.load(POSIXStorage(directory: path), through: nil).present
        }
        return try await context.view(arguments, at: text).reader
    }

    /// Reads the server's rows into a state of their own. Without a table they are those of the tables of the other side.
    private static func fetch(
        _ other: StateReader, _ table: String?, _ arguments: Arguments, _ context: Context
    ) async throws -> StateReader {
        let tables = try table.map { [$0] } ?? other.tables()
        // The URL of the server does not depend on the moment that is compared with it.
        let present = try await context.view(arguments).reader
        return try await ServerRows.fetch(tables, present, arguments, context)
    }

    static func show(
        _ differences: [RowDifference], causes: [DifferenceCause]? = nil, _ arguments: Arguments, _ context: Context
    ) throws {
        let redacts = arguments.flag("redact")
        if arguments.flag("stat") {
            let counts = ["added", "removed", "changed"].map { word in
                (word, differences.count { $0.change == word })
            }
            let byCause = DifferenceCause.allCases.map { cause in (cause, causes?.count { $0 == cause } ?? 0) }
            let all = counts + (causes == nil ? [] : byCause.map { ($0.0.rawValue, $0.1) })
            try context.output.value(.object(all.map { .init(key: $0.0, value: .number($0.1)) }))
            try context.output.line(counts.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
            for (cause, count) in byCause where count > 0 { try context.output.line("\(count) \(cause.text)") }
            return
        }
        let style = context.output.style
        try context.output.beginList()
        for (index, difference) in differences.enumerated() {
            let cause = causes?[index]
            try context.output.element(
                difference.json(redacts: redacts).adding(["cause": cause.map { .string($0.rawValue) }]))
            guard context.output.form.isText else { continue }
            var lines = difference.lines(style, redacts: redacts)
            if let cause { lines[0] += style.paint("  " + cause.text, .dim) }
            for line in lines { try context.output.line(line) }
        }
        try context.output.endList()
    }
}

extension Projector {
    /// The state it has built so far.
    var present: StateReader { reader(of: store.endCommit()) }
}

/// The rows of a server as a state of their own.
enum ServerRows {
    static func fetch(
        _ tables: [String], _ store: StateReader, _ arguments: Arguments, _ context: Context
    ) async throws -> StateReader {
        guard case .string(let url)? = try store.setting("backend") else {
            throw ToolError(
                "invalid-configuration", "the store has no backend",
                hint: "Set one with `syncline config backend URL`.")
        }
        var speaks = ServerProtocol.zumo2
        if case .string(let name)? = try store.setting("protocol") { speaks = ServerProtocol(rawValue: name) ?? speaks }
        let secrets = StoreSecrets(store: try StoreLocation.find(arguments, context.environment).path)
        let backend =
            try context.host.transport.map { Backend($0, speaking: speaks, secrets) }
            ?? Backend(url: url, speaking: speaks, credentials: secrets)
        let projector = try Projector()
        let names = NameTranslation(try store.declaration)
        var number: UInt64 = 0
        for table in tables {
            var page = try await backend.rows(of: table).query(RowQuery(table: table))
            var skip = 0
            while !page.rows.isEmpty {
                number += 1
                let rows = page.rows.map { PulledRow(id: $0.id, row: names.received($0.columns, of: table)) }
                try projector.apply(
                    Event(time: 0, .page(PulledPage(table: table, queryID: nil, rows: rows, cursor: nil))),
                    number: number)
                skip += page.rows.count
                if let next = try await backend.rows(of: table).page(after: page) {
                    page = next
                } else {
                    var query = RowQuery(table: table)
                    query.skip = skip
                    page = try await backend.rows(of: table).query(query)
                }
            }
        }
        return projector.present
    }
}
