// The command line of `syncline-bench sql`, and its result.

struct SQLOptions: Sendable {
    var rows = 100_000
    var rounds = 5
    /// The names of the statements to run; nil for all.
    var statements: [String]?
    var json: String?
    var directory = ".bench"

    static let usage = """
        Runs SQL and typed queries over a store, compared with SQLite's own tables with the same rows and indexes, in four
        shapes: rows by number or by id, with the default cache or with one of 256 MiB.

        usage: syncline-bench sql [options]
          --rows n          the rows of the larger table; the smaller one has a hundredth (default: 100000)
          --rounds n        how often each statement is run by all, in turn, and short ones more often (default: 5)
          --statements a+b  runs only the statements with these names, such as "group+order, all"
          --json file       writes every measurement as one line of JSON
          --dir directory   where the data goes while it runs (default: .bench)
        """

    /// - Throws: a sentence for the user.
    init(_ arguments: [String]) throws {
        var reader = OptionReader(arguments)
        while let option = reader.next() {
            switch option {
            case "--rows": rows = try reader.number(of: option)
            case "--rounds": rounds = try reader.number(of: option)
            case "--statements": statements = try reader.value(of: option).split(separator: "+").map(String.init)
            case "--json": json = try reader.value(of: option)
            case "--dir": directory = try reader.value(of: option)
            default: throw BenchError("Unknown option \(option); --help lists them.")
            }
        }
    }
}

/// One statement, run by all.
struct SQLMeasurement: Codable, Sendable {
    var statement: String
    var rows: Int
    /// The median.
    var milliseconds: Double
    /// That of the fastest shape.
    var nativeMilliseconds: Double
    var fastest: String

    static let head = "statement                          rows   Syncline ms     SQLite ms   ratio  the fastest SQLite"

    var line: String {
        [
            left(statement, 30), right("\(rows)", 9), right(decimal(milliseconds), 14),
            right(decimal(nativeMilliseconds), 14), right(decimal(milliseconds / nativeMilliseconds), 8),
            "  \(fastest)",
        ].joined()
    }

    private func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// Two decimals.
    private func decimal(_ number: Double) -> String {
        let hundredths = Int((number * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
