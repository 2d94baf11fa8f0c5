// Gives values to the parameters of a prepared statement. Each parameter needs a value, and each value needs a parameter.

import CSQLite
import SynclineCore

extension SQLArguments {
    func bind(to statement: OpaquePointer) throws(SyncError) {
        var unnamed = values.makeIterator()
        var used: Set<String> = []
        var wanted = 0
        for index in 0..<sqlite3_bind_parameter_count(statement) {
            let sink = ParameterSink(statement: statement, index: index + 1)
            // The character before a name is `:`, `@` or `$`.
            if let name = sqlite3_bind_parameter_name(statement, index + 1).map({ String(cString: $0) }),
                !name.hasPrefix("?")
            {
                let bare = String(name.dropFirst())
                guard let value = named[bare] else { throw missing(name) }
                used.insert(bare)
                sink.write(value)
            } else {
                wanted += 1
                guard let value = unnamed.next() else { continue }
                sink.write(value)
            }
        }
        if wanted != values.count {
            throw SyncError(
                .invalidQuery,
                "the statement has \(wanted) parameters without a name, and \(values.count) values were given",
                hint: "Give one value for each `?`.")
        }
        if let extra = named.keys.sorted().first(where: { !used.contains($0) }) {
            throw SyncError(
                .invalidQuery, "the statement has no parameter :\(extra)",
                hint: "Remove the value, or use it in the statement.")
        }
    }

    private func missing(_ name: String) -> SyncError {
        let near = Suggestion.nearest(to: String(name.dropFirst()), in: named.keys.sorted())
        return SyncError(
            .invalidQuery, "the parameter \(name) has no value",
            hint: near.map { "Did you mean \"\($0)\"?" } ?? "Give a value for \"\(name.dropFirst())\".")
    }
}
