// DuckDB with one thread, asked through the pipes of its command-line program: rows of typed columns and the operations,
// written in one transaction. It answers what has few rows, so that their text costs nothing; ids have no index.

import Foundation

/// Sendable although it has pipes: one thread uses it at a time.
final class DuckDBStore: Store, @unchecked Sendable {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var unread: [UInt8] = []

    /// Where the program is, if it is installed.
    static let program: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/duckdb" }.first { access($0, X_OK) == 0 }
    }()

    init(_ directory: String) throws {
        guard let program = DuckDBStore.program else { throw BenchError("no program duckdb on the PATH") }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-batch", "-bail", "-csv", "-noheader", directory + "/store.duckdb"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        _ = try lines(
            """
            SET threads = 1;
            CREATE TABLE IF NOT EXISTS rows(id UUID, title VARCHAR, done BOOLEAN, priority TINYINT, project VARCHAR,
            due TIMESTAMP_MS, tag VARCHAR);
            CREATE TABLE IF NOT EXISTS operations(kind TINYINT, tbl VARCHAR, id UUID, data VARCHAR);
            """)
    }

    func insert(_ rows: TodoRows, _ range: Range<Int>) throws {
        let todos = range.map { (id: rows.id($0), todo: rows[$0]) }
        let values = todos.map { id, todo in
            """
            ('\(id)',\(quoted(todo.title)),\(todo.isDone),\(todo.priority),\(quoted(todo.project)),'\(todo.due)',\
            \(quoted(todo.tag)))
            """
        }
        let operations = todos.map { id, todo in
            "(0,'todos','\(id)',\(quoted(String(decoding: todo.json, as: UTF8.self))))"
        }
        _ = try lines(
            """
            BEGIN; INSERT INTO rows VALUES \(values.joined(separator: ","));
            INSERT INTO operations VALUES \(operations.joined(separator: ",")); COMMIT;
            """)
    }

    private func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    func get(_ rows: TodoRows, _ index: Int) throws -> Int { throw BenchError("no index of ids") }

    func ask(_ question: ListQuestion, _ place: ListPlace) throws -> Int {
        let columns = "id, title, done, priority, project, due, tag"
        switch question {
        case .top: return try lines("SELECT \(columns) FROM rows ORDER BY due DESC, id LIMIT 10;").count
        case .topText: return try lines("SELECT \(columns) FROM rows ORDER BY title, id LIMIT 10;").count
        case .counted:
            return try number("SELECT count(*) FROM rows WHERE NOT done AND priority = 3 AND project = 'travel';")
        case .done: return try number("SELECT count(*) FROM rows WHERE done;")
        case .sums: return try lines("SELECT 1, sum(priority), min(priority), max(priority) FROM rows;").count
        case .groups:
            return try lines("SELECT project, count(*), sum(priority) FROM rows GROUP BY project;").count
        case .substring: return try number("SELECT count(*) FROM rows WHERE contains(title, 'bicycle');")
        case .newest, .page, .count, .range, .prefix, .covered: throw BenchError("no indexes of lists")
        }
    }

    private func number(_ query: String) throws -> Int {
        let answer = try lines(query).first.flatMap { Int($0) }
        guard let answer else { throw BenchError("DuckDB counts nothing") }
        return answer
    }

    func close() throws {
        _ = try lines("CHECKPOINT;")
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The lines that statements print.
    private func lines(_ statements: String) throws -> [String] {
        let end = "-- end"
        try input.fileHandleForWriting.write(contentsOf: Data("\(statements)\n.print \(end)\n".utf8))
        var lines: [String] = []
        while true {
            while let place = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<place], as: UTF8.self)
                unread.removeSubrange(...place)
                if line == end { return lines }
                lines.append(line)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw BenchError("DuckDB ended; its reason is above") }
            unread += more
        }
    }
}
