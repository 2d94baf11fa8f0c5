// `bench sync`: measures how fast rows get from pages in memory to durable state, and how fast pending operations
// become requests. No network is measured.

import CLibrary
import SegmentLog

enum BenchSyncCommand {
    static let command = Command(
        "bench sync", "measure pulling and preparing a push, without a network",
        details: [
            """
            It pulls pages from memory into a new store in the current folder, changes every row, and makes the \
            requests of a push.
            """
        ],
        options: [
            Option("rows", value: "N", "number of rows (default: 100000)"),
            Option("page-size", value: "N", "rows per page (default: 1000)"),
        ],
        examples: [Example("syncline bench sync --rows 1000000", "the first pull of a million rows")],
        result: #"{"rows":n,"pageSize":n,"pull":{"seconds","rowsPerSecond","allocations"?},"push":{…},"peakBytes":n}"#,
        run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let workload = SyncWorkload(
            rows: Int(try arguments.number("rows", in: 1...10_000_000) ?? 100_000),
            pageSize: Int(try arguments.number("page-size", in: 1...128_000) ?? 1000))
        let path = context.environment.directory + "/syncline-bench-\(getpid())"
        let storage = POSIXStorage(directory: path)
        defer {
            for name in (try? storage.names(in: "")) ?? [] { try? storage.remove(name) }
            rmdir(path)
        }
        let figures = try await workload.run(storage)
        try context.output.value([
            "rows": .number(workload.rows), "pageSize": .number(workload.pageSize), "pull": json(figures.pull, "rows"),
            "push": json(figures.push, "operations"), "peakBytes": .number(figures.peak),
        ])
        let style = context.output.style
        for (label, figure, what) in [("pull", figures.pull, "rows"), ("push", figures.push, "requests")] {
            let allocations = figure.allocations.map { ", \(decimal(each($0, figure), places: 1)) allocations each" }
            try context.output.line(
                style.paint(label.padded(to: 10), .dim)
                    + style.paint("\(grouped(UInt64(figure.perSecond))) \(what)/s", .heading) + (allocations ?? ""))
        }
        try context.output.line(
            style.paint("memory".padded(to: 10), .dim)
                + "\(humanBytes(UInt64(figures.peak))) more at the peak of the pull")
        return .done
    }

    private static func json(_ figure: Figure, _ what: String) -> JSONValue {
        [
            "seconds": .number(figure.seconds, places: 4), what + "PerSecond": .number(Int(figure.perSecond)),
            "allocations": figure.allocations.map { .number(each($0, figure), places: 1) },
        ]
    }

    private static func each(_ allocations: UInt64, _ figure: Figure) -> Double {
        Double(allocations) / Double(max(1, figure.records))
    }
}
