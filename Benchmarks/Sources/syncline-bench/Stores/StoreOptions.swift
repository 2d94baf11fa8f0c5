// The command line of `syncline-bench store`.

/// The workloads over whole stores, in the order they run.
enum StoreWorkload: String, CaseIterable, Sendable {
    case single
    case buffered
    case batch
    case ordered
    case get
    case filter
    case open
    case replay
    case plan
    case index
    case lists
    case live
    case sql
}

struct StoreOptions: Sendable {
    var workloads = Set(StoreWorkload.allCases)
    var stores = Set(StoreName.allCases)
    var questions = Set(ListQuestion.allCases)
    var rows = 1_000_000
    var rounds = 3
    var json: String?
    var directory = ".bench"

    static let usage = """
        Measures whole stores at a sync client's job: a row and an operation that waits to be pushed, in one transaction.

        usage: syncline-bench store [options]
          --workloads a,b   \(StoreWorkload.allCases.map(\.rawValue).joined(separator: ", "))
                            (default: all)
          --stores a,b      \(StoreName.allCases.map(\.rawValue).joined(separator: ", "))
                            (default: all)
          --questions a,b   those of the lists: \(ListQuestion.allCases.map(\.rawValue).joined(separator: ", "))
                            (default: all)
          --rows n          how many rows a store gets (default: 1000000)
          --rounds n        how often each measurement is repeated, in turn with the others (default: 3)
          --json file       writes every measurement as one line of JSON
          --dir directory   where the data goes while it runs; must lie on a real disk (default: .bench)
        """

    /// - Throws: a sentence for the user.
    init(_ arguments: [String]) throws {
        var reader = OptionReader(arguments)
        while let option = reader.next() {
            switch option {
            case "--workloads": workloads = Set(try names(try reader.value(of: option), "workload"))
            case "--stores": stores = Set(try names(try reader.value(of: option), "store"))
            case "--questions": questions = Set(try names(try reader.value(of: option), "question"))
            case "--rows": rows = try reader.number(of: option)
            case "--rounds": rounds = try reader.number(of: option)
            case "--json": json = try reader.value(of: option)
            case "--dir": directory = try reader.value(of: option)
            default: throw BenchError("Unknown option \(option); --help lists them.")
            }
        }
    }
}
