// The entrance: either a worker of a run, or the run itself.

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
        let isAboutStores = arguments.first == "store"
        if arguments.contains("--help") {
            print(isAboutStores ? StoreOptions.usage : Options.usage)
            return
        }
        do {
            if isAboutStores {
                try run(try StoreOptions(Array(arguments.dropFirst())))
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
        // A file that can't be written is better found out now than at the end.
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

    /// A directory of this run alone, and what removes it; an interruption does that, too.
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

    private static func run(_ options: StoreOptions) throws {
        if let json = options.json { try writeFile("", to: json) }
        let (directory, removeData) = try makeRunDirectory(in: options.directory)
        defer { removeData() }
        let mount = Mount(holding: directory)
        let device = BlockDevice(under: mount)
        say(try Machine(dataIn: directory, on: mount, device).lines.joined(separator: "\n"))
        say(try MicroFloors(in: directory).lines.joined(separator: "\n"))
        var lines: [String] = []
        try StoreRunner(options: options, runner: Runner(in: directory, on: device)).run { table in
            say("\n" + table.text)
            for measurement in table.measurements {
                guard let line = try? JSONEncoder().encode(measurement) else { continue }
                lines.append(String(decoding: line, as: UTF8.self) + "\n")
            }
        }
        if let json = options.json { try writeFile(lines.joined(), to: json) }
    }

    /// To standard output, at once even when that is a file.
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
