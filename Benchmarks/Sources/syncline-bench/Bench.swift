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
        if arguments.contains("--help") {
            print(Options.usage)
            return
        }
        do {
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
        let existed = resolvedPath(options.directory) != nil
        try makeDirectories(options.directory)
        guard let parent = resolvedPath(options.directory) else { throw systemFailure("Finding \(options.directory)") }
        let directory = parent + "/run-\(getpid())"
        let removeData: @Sendable () -> Void = {
            WorkerProcess.killAll()
            removeTree(directory)
            if !existed { rmdir(parent) }
        }
        onInterruption(removeData)
        defer { removeData() }
        try makeDirectories(directory)

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

    /// To standard output, at once even when that is a file.
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
