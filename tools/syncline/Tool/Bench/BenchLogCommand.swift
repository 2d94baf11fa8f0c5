// `bench log`: measures the speed of the log on this machine's disk. Its counts do not depend on the machine.

import SegmentLog

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum BenchLogCommand {
    static let command = Command(
        "bench log", "measure appending and scanning",
        details: [
            """
            Without DIR the log is in a directory in the current folder, so that its disk is measured, and removed at \
            the end.
            """
        ],
        operands: [Operand("DIR", "where to create the log", takesDirectory: true)],
        options: [
            Option("records", value: "N", "number of records (default: 20000)"),
            Option("size", value: "BYTES", "bytes per record (default: 200)"),
            Option("batch", value: "N", "records per commit (default: 1)"),
            Option("writers", value: "N", "number of concurrent writers (default: 1)"),
            Option("durability", value: "LEVEL", choices: Durability.names, "durability of commits (default: durable)"),
        ],
        examples: [
            Example("syncline bench log --writers 16", "sixteen writers"),
            Example("syncline bench log --batch 1000 --records 1000000 /mnt/disk/bench", "another disk"),
        ],
        result:
            #"""
            {"records":n,"batch":n,"writers":n,"durability","append":{"seconds","recordsPerSecond",\#
            "bytesPerSecond","p50","p95","p99" in microseconds,"syncsPerCommit","bytesPerRecord",\#
            "writtenBytesPerRecord"},"scan":{"seconds","recordsPerSecond","bytesPerSecond"}}
            """#,
        run: run)

    private nonisolated(nonsending) static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode
    {
        let workload = LogWorkload(
            records: Int(try arguments.number("records", in: 1...100_000_000) ?? 20_000),
            size: Int(try arguments.number("size", in: 1...1_000_000) ?? 200),
            batch: Int(try arguments.number("batch", in: 1...1_000_000) ?? 1),
            writers: Int(try arguments.number("writers", in: 1...1024) ?? 1),
            durability: Durability(name: arguments.value("durability") ?? "durable"))
        let path = arguments.operands.first ?? context.environment.directory + "/syncline-bench-\(getpid())"
        let wasThere = isDirectory(path)
        let storage = POSIXStorage(directory: path)
        if wasThere, !(try storage.names(in: "").isEmpty) {
            throw ToolError(
                "store-exists", "\(path) is not empty", hint: "Give a directory that is empty or does not exist.")
        }
        defer { if !wasThere { removeLog(storage, path) } }
        let progress = context.narration.progress("appending", total: UInt64(workload.records * workload.size))
        let figures = try await workload.run(storage, context.clock) { progress.advance(by: UInt64($0)) }
        progress.finish()
        try context.output.value(figures.json)
        try show(figures, context.output)
        if wasThere, context.output.form.isText { context.narration.hint("The log stays in \(path).") }
        return .done
    }

    private static func show(_ figures: LogFigures, _ output: Output) throws {
        guard output.form.isText else { return }
        let style = output.style
        func line(_ label: String, _ text: String) throws {
            try output.line(style.paint(label.padded(to: 10), .dim) + text)
        }
        let workload = figures.workload
        try line(
            "workload",
            "\(counted(UInt64(workload.records), "record")) of \(workload.size) bytes, \(workload.batch) per commit, "
                + "\(counted(UInt64(workload.writers), "writer")), \(figures.durability)")
        try line(
            "append",
            style.paint("\(grouped(UInt64(figures.append.perSecond))) records/s", .heading)
                + "  \(humanBytes(UInt64(figures.append.bytesPerSecond)))/s")
        let latencies = [50, 95, 99].map { "p\($0) \(decimal(figures.percentile($0), places: 0)) µs" }
        try line("commit", latencies.joined(separator: "  "))
        try line("syncs", "\(decimal(figures.syncsPerCommit, places: 2)) per commit")
        try line(
            "bytes",
            "\(decimal(figures.bytesPerRecord, places: 1)) per record in frames, "
                + "\(decimal(figures.writtenPerRecord, places: 1)) written")
        try line(
            "scan",
            style.paint("\(grouped(UInt64(figures.scan.perSecond))) records/s", .heading)
                + "  \(humanBytes(UInt64(figures.scan.bytesPerSecond)))/s")
    }

    /// Removes only what the benchmark created.
    private static func removeLog(_ storage: POSIXStorage, _ path: String) {
        for name in (try? storage.names(in: "")) ?? [] where FileName.belongsToLog(name) {
            try? storage.remove(name)
        }
        rmdir(path)
    }
}
