// The parameters of a prepared statement. Each parameter needs a value, and each value needs a parameter.

import CSQLite
import SynclineCore

struct StatementParameters {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) {
        self.statement = statement
    }

    func bind(_ arguments: SQLArguments) throws(SyncError) {
        var unnamed = arguments.values.makeIterator()
        var used: Set<String> = []
        var wanted = 0
        for index in 0..<sqlite3_bind_parameter_count(statement) {
            let sink = ParameterSink(statement: statement, index: index + 1)
            // The character before a name is `:`, `@` or `$`.
            if let name = sqlite3_bind_parameter_name(statement, index + 1).map({ String(cString: $0) }),
                !name.hasPrefix("?")
            {
                let bare = String(name.dropFirst())
                guard let value = arguments.named[bare] else { throw missing(name, arguments) }
                used.insert(bare)
                sink.write(value)
            } else {
                wanted += 1
                guard let value = unnamed.next() else { continue }
                sink.write(value)
            }
        }
        if wanted != arguments.values.count {
            throw SyncError(
                .invalidQuery,
                "the statement has \(wanted) parameters without a name, and \(arguments.values.count) values were given",
                hint: "Give one value for each `?`.")
        }
        if let extra = arguments.named.keys.sorted().first(where: { !used.contains($0) }) {
            throw missing(parameter: extra)
        }
    }

    private func missing(_ name: String, _ arguments: SQLArguments) -> SyncError {
        let near = Suggestion.nearest(to: String(name.dropFirst()), in: arguments.named.keys.sorted())
        return SyncError(
            .invalidQuery, "the parameter \(name) has no value",
            hint: near.map { "Did you mean \"\($0)\"?" } ?? "Give a value for \"\(name.dropFirst())\".")
    }

    private func missing(parameter name: String) -> SyncError {
        SyncError(
            .invalidQuery, "the statement has no parameter :\(name)",
            hint: "Remove the value, or use it in the statement.")
    }
}
