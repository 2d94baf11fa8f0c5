// The command line of `syncline-bench server`.

/// The workloads against a server, in the order they run.
enum ServerWorkload: String, CaseIterable, Sendable {
    case insert
    case batch
    case ordered
    case get
    case page
    case changes
    case idle
    case sync
}

struct ServerOptions: Sendable {
    var workloads = Set(ServerWorkload.allCases)
    /// The server's program.
    var program = ""
    /// An empty database of PostgreSQL to measure as well.
    var postgres: String?
    var rows = 1_000_000
    var connections = 64
    var seconds = 5.0
    var rounds = 3
    var json: String?
    var directory = ".bench"

    static let usage = """
        Measures syncline-server on loopback: requests from one thread of our own, on the same cores as the server.

        usage: syncline-bench server --program FILE [options]
          --program file    syncline-server, built in release mode (tools/bench server gives it)
          --workloads a,b   \(ServerWorkload.allCases.map(\.rawValue).joined(separator: ", "))
                            (default: all; those that read need batch)
          --postgres url    an empty database to measure as well
          --rows n          how many rows batch inserts and the readers find (default: 1000000)
          --connections n   how many clients ask at once (default: 64)
          --seconds n       how long a measurement takes if it has no end of its own (default: 5)
          --rounds n        how often each measurement is repeated (default: 3)
          --json file       writes every measurement as one line of JSON
          --dir directory   where the data goes while it runs; must lie on a real disk (default: .bench)
        """

    /// - Throws: a sentence for the user.
    init(_ arguments: [String]) throws {
        var reader = OptionReader(arguments)
        while let option = reader.next() {
            switch option {
            case "--program": program = try reader.value(of: option)
            case "--workloads": workloads = Set(try names(try reader.value(of: option), "workload"))
            case "--postgres": postgres = try reader.value(of: option)
            case "--rows": rows = try reader.number(of: option)
            case "--connections": connections = try reader.number(of: option)
            case "--seconds": seconds = Double(try reader.number(of: option))
            case "--rounds": rounds = try reader.number(of: option)
            case "--json": json = try reader.value(of: option)
            case "--dir": directory = try reader.value(of: option)
            default: throw BenchError("Unknown option \(option); --help lists them.")
            }
        }
        if program.isEmpty { throw BenchError("--program is missing.") }
    }
}
