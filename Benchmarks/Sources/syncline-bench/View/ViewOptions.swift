// The command line of `syncline-bench view`, and its result.

struct ViewOptions: Sendable {
    var rows = 100_000
    var commits = 1_000
    var json: String?
    var directory = ".bench"

    static let usage = """
        Shows lists of a large table on the main actor while commits arrive, and measures its longest stall.

        usage: syncline-bench view [options]
          --rows n          the rows of the table (default: 100000)
          --commits n       the commits that arrive, each of one row (default: 1000)
          --json file       writes every measurement as one line of JSON
          --dir directory   where the data goes while it runs (default: .bench)
        """

    /// - Throws: a sentence for the user.
    init(_ arguments: [String]) throws {
        var reader = OptionReader(arguments)
        while let option = reader.next() {
            switch option {
            case "--rows": rows = try reader.number(of: option)
            case "--commits": commits = try reader.number(of: option)
            case "--json": json = try reader.value(of: option)
            case "--dir": directory = try reader.value(of: option)
            default: throw BenchError("Unknown option \(option); --help lists them.")
            }
        }
    }
}

/// What one kind of list cost the main actor.
struct ViewMeasurement: Codable, Sendable {
    var list: String
    var commits: Int
    /// How long the commits took.
    var seconds: Double
    /// How often the list on the main actor was replaced.
    var updates: Int
    /// The lists that the slow reader got.
    var slowUpdates: Int
    /// The time between the last commit and the list that shows it.
    var delayMilliseconds: Double
    /// The longest time for which the main actor ran nothing else.
    var stallMilliseconds: Double
    /// The most memory, beyond that of the open store.
    var memoryMebibytes: Double

    static let head =
        "list               commits      s  updates  slow reader's  delay ms  longest stall ms  memory MiB"

    var line: String {
        let numbers = [
            ("\(commits)", 9), (decimal(seconds), 7), ("\(updates)", 9), ("\(slowUpdates)", 15),
            (decimal(delayMilliseconds), 10), (decimal(stallMilliseconds), 18), (decimal(memoryMebibytes), 12),
        ]
        return numbers.reduce(list + space(17 - list.count)) { $0 + space($1.1 - $1.0.count) + $1.0 }
    }

    private func space(_ width: Int) -> String { String(repeating: " ", count: max(0, width)) }

    private func decimal(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}
