// The entry point: either a worker of a run, or the run itself.

import Foundation

@main
struct Bench {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "worker", arguments.count == 3, let name = EngineName(rawValue: arguments[1]) {
            var worker = Worker(name, arguments[2])
            await worker.serve()
            return
        }
        if arguments.first == "store-worker", arguments.count == 3, let name = StoreName(rawValue: arguments[1]) {
            var worker = StoreWorker(name, arguments[2])
            await worker.serve()
            return
        }
        let subject = arguments.first
        if arguments.contains("--help") {
            let usage =
                switch subject {
                case "store": StoreOptions.usage
                case "server": ServerOptions.usage
                case "sql": SQLOptions.usage
                case "view": ViewOptions.usage
                default: Options.usage
                }
            print(usage)
            return
        }
        do {
            if subject == "store" {
                try await run(try StoreOptions(Array(arguments.dropFirst())))
                exit(0)
            }
            if subject == "server" {
                try await run(try ServerOptions(Array(arguments.dropFirst())))
                exit(0)
            }
            if subject == "sql" {
                try await run(try SQLOptions(Array(arguments.dropFirst())))
                exit(0)
            }
            if subject == "view" {
                try await run(try ViewOptions(Array(arguments.dropFirst())))
                exit(0)
            }
            let options = try Options(arguments)
            exit(try run(options) ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("syncline-bench: \(error)\n".utf8))
            exit(2)
        }
    }

    /// Whether every workload ran to its end.
    private static func run(_ options: Options) throws -> Bool {
        // A file that can't be written is reported now, not at the end.
        for file in [options.json, options.svg].compactMap(\.self) { try writeFile("", to: file) }
        let (directory, removeData) = try makeRunDirectory(in: options.directory)
        defer { removeData() }
        let mount = Mount(holding: directory)
        let device = BlockDevice(under: mount)
        let machine = try Machine(dataIn: directory, on: mount, device)
        let floors = try MicroFloors(in: directory)
        say((machine.lines + floors.lines).joined(separator: "\n"))
        let runner = Runner(options, in: directory, on: device)
        var tables: [Table] = []
        var complete = true
        for workload in options.workloads {
            do {
                for table in try runner.tables(of: workload) {
                    say("\n" + table.text)
                    tables.append(table)
                }
            } catch {
                complete = false
                say("\n\(workload.rawValue) failed: \(error)")
            }
        }
        if let json = options.json { try writeFile(try jsonLines(machine, floors, tables), to: json) }
        if let svg = options.svg { try writeFile(Chart(tables, machine.lines[0]).svg, to: svg) }
        return complete
    }

    /// A directory for this run only, and what removes it at the end or on an interruption.
    private static func makeRunDirectory(in place: String) throws -> (path: String, remove: @Sendable () -> Void) {
        let existed = resolvedPath(place) != nil
        try makeDirectories(place)
        guard let parent = resolvedPath(place) else { throw systemFailure("Finding \(place)") }
        let directory = parent + "/run-\(getpid())"
        let removeData: @Sendable () -> Void = {
            WorkerProcess.killAll()
            removeTree(directory)
            if !existed { rmdir(parent) }
        }
        onInterruption(removeData)
        try makeDirectories(directory)
        return (directory, removeData)
    }

    private static func run(_ options: StoreOptions) async throws {
        if let json = options.json { try writeFile("", to: json) }
        let (runner, removeData) = try start(in: options.directory)
        defer { removeData() }
        var lines = ""
        try StoreRunner(options: options, runner: runner).run { table in
            say("\n" + table.text)
            lines += Self.lines(of: table.measurements)
        }
        if options.workloads.contains(.sql) {
            say("\nsql: joins, groups, orders, relations and full text over two tables\n" + SQLMeasurement.head)
            let options = try SQLOptions(["--rounds", "\(options.rounds)", "--rows", "\(min(options.rows, 100_000))"])
            let bench = SQLBench(options: options, directory: runner.directory)
            lines += Self.lines(of: try await bench.run { say($0.line) })
        }
        if let json = options.json { try writeFile(lines, to: json) }
    }

    private static func run(_ options: ServerOptions) async throws {
        if let json = options.json { try writeFile("", to: json) }
        let (runner, removeData) = try start(in: options.directory)
        defer { removeData() }
        var lines = ""
        try await ServerRunner(options: options, runner: runner).run { text, measurements in
            say("\n" + text)
            lines += Self.lines(of: measurements)
        }
        if let json = options.json { try writeFile(lines, to: json) }
    }

    private static func run(_ options: SQLOptions) async throws {
        if let json = options.json { try writeFile("", to: json) }
        let (runner, removeData) = try start(in: options.directory)
        defer { removeData() }
        say(SQLMeasurement.head)
        let measurements = try await SQLBench(options: options, directory: runner.directory).run { say($0.line) }
        let lines = Self.lines(of: measurements)
        if let json = options.json { try writeFile(lines, to: json) }
    }

    private static func run(_ options: ViewOptions) async throws {
        if let json = options.json { try writeFile("", to: json) }
        let (runner, removeData) = try start(in: options.directory)
        defer { removeData() }
        var lines = ""
        say(ViewMeasurement.head)
        try await ViewBench(options: options, directory: runner.directory).run { measurement in
            say(measurement.line)
            lines += Self.lines(of: [measurement])
        }
        if let json = options.json { try writeFile(lines, to: json) }
    }

    /// A runner in a directory of its own, after it was said where the run takes place.
    private static func start(in place: String) throws -> (Runner, remove: @Sendable () -> Void) {
        let (directory, removeData) = try makeRunDirectory(in: place)
        let mount = Mount(holding: directory)
        let device = BlockDevice(under: mount)
        say(try Machine(dataIn: directory, on: mount, device).lines.joined(separator: "\n"))
        say(try MicroFloors(in: directory).lines.joined(separator: "\n"))
        return (Runner(in: directory, on: device), removeData)
    }

    private static func lines(of measurements: [some Encodable]) -> String {
        measurements.map { measurement in
            (try? JSONEncoder().encode(measurement)).map { String(decoding: $0, as: UTF8.self) + "\n" } ?? ""
        }.joined()
    }

    /// To standard output, at once even when that is a file.
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
