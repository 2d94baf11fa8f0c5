// The command line.

/// The named workloads, in the order they run.
enum Workload: String, CaseIterable, Sendable {
    case appendDurable = "append-durable"
    case appendBuffered = "append-buffered"
    case batch10 = "batch-10"
    case batch100 = "batch-100"
    case batch1000 = "batch-1000"
    case recover
    case scan
    case follow
}

struct Options: Sendable {
    var workloads = Workload.allCases
    var engines = Set(EngineName.allCases)
    var quick = false
    var rounds = 3
    var json: String?
    var svg: String?
    var directory = ".bench"

    static let usage = """
        Measures the segment log, compared with SQLite, RocksDB, LevelDB and LMDB at the same work, and with what the
        hardware allows, in one run.

        usage: syncline-bench [options]
               syncline-bench store [options]    whole stores instead of the log; see its --help
               syncline-bench server [options]   the table server; see its --help
          --workloads a,b   \(Workload.allCases.map(\.rawValue).joined(separator: ", "))
                            (default: all)
          --engines a,b     \(EngineName.allCases.prefix(4).map(\.rawValue).joined(separator: ", ")),
                            \(EngineName.allCases.dropFirst(4).map(\.rawValue).joined(separator: ", "))
                            (default: all)
          --quick           small sizes: one or two minutes instead of a quarter of an hour
          --rounds n        how often each measurement is repeated, in turn with the others (default: 3)
          --json file       writes every measurement as one line of JSON
          --svg file        draws the throughputs
          --dir directory   where the data goes while it runs; must lie on a real disk (default: .bench)
        """

    init() {}

    /// - Throws: a sentence for the user.
    init(_ arguments: [String]) throws {
        var reader = OptionReader(arguments)
        while let option = reader.next() {
            switch option {
            case "--workloads": workloads = try names(try reader.value(of: option), "workload")
            case "--engines": engines = Set(try names(try reader.value(of: option), "engine"))
            case "--quick": quick = true
            case "--rounds": rounds = try reader.number(of: option)
            case "--json": json = try reader.value(of: option)
            case "--svg": svg = try reader.value(of: option)
            case "--dir": directory = try reader.value(of: option)
            default: throw BenchError("Unknown option \(option); --help lists them.")
            }
        }
    }
}

func names<Name: RawRepresentable & CaseIterable>(_ list: String, _ kind: String) throws -> [Name]
where Name.RawValue == String {
    try list.split(separator: ",").map { part in
        guard let name = Name(rawValue: String(part)) else {
            let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw BenchError("There is no \(kind) \(part); there are \(known).")
        }
        return name
    }
}
