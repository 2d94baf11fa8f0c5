// `export` and `import` with --format sqlite: a file that SQLite reads, instead of lines.

import Foundation
import SegmentLog
import Syncline
import SynclineSQL

enum SQLiteExchange {
    static let operand = Operand("FILE", "the SQLite file to write, with --format sqlite")

    /// The FILE of --format sqlite; nil for another format.
    static func file(_ arguments: Arguments) throws(ToolError) -> String? {
        if arguments.value("format") != "sqlite" { return nil }
        guard let file = arguments.operands.first else { throw .usage("--format sqlite needs a FILE") }
        if file == "-" {
            throw .usage("SQLite needs a file, and `-` is none", hint: "A file of that name is written `./-`.")
        }
        return file
    }

    static func export(to file: String, _ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let view = try await context.view(arguments, at: arguments.value("at"))
        if let table = arguments.value("table") { try context.check(table: table, view.reader) }
        let place = try FilePlace(replacing: file)
        if FileManager.default.fileExists(atPath: file) {
            throw ToolError(
                "file-exists", "\(escaped(file)) exists", hint: "Name a new file, or remove that one first.")
        }
        let redacts = arguments.flag("redact")
        let tables = try arguments.value("table").map { [$0] } ?? view.reader.tables()
        let rows = tables.map { ExportedTable($0, view.reader) { redacts ? $0.redacted : $0 } }
        let draft = file + FileName.temporarySuffix
        Leftovers.add(draft)
        defer { Leftovers.forget(draft) }
        return try ExchangeCommands.show(try RowFormat.sqlite.write(rows, replacing: place), context)
    }

    static func `import`(from file: String, _ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        try await ExchangeCommands.importRows(
            arguments.value("table"), from: file, as: .sqlite, arguments, context)
    }
}
