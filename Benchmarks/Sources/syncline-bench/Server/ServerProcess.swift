// The server as a child process, on a free port.

import Foundation

final class ServerProcess {
    let port: UInt16
    private let process: Process

    init(_ program: String, store: String) throws {
        process = Process()
        let columns = "columns=title/string+done/boolean+priority/number+project/string+due/date+tag/string"
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [
            "--store", store, "--listen", "127.0.0.1:0", "--log", "none", "--set", "pageSize=1000",
            "--set", "limits.connections=1200", "--table", "todos:\(columns)", "--table", "ordered:\(columns)",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let colon = line.lastIndex(of: ":"),
            let port = UInt16(line[line.index(after: colon)...].prefix { $0.isNumber })
        else {
            throw BenchError("The server does not start: \(line)")
        }
        self.port = port
    }

    deinit { stop() }

    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    /// Bytes of memory that it holds now.
    var memory: Int {
        let status = contents(of: "/proc/\(process.processIdentifier)/status") ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) << 10
    }

    /// Seconds of processor time that it has used.
    var processorSeconds: Double {
        let fields = (contents(of: "/proc/\(process.processIdentifier)/stat") ?? "").split(separator: " ")
        guard fields.count > 15, let user = Double(fields[13]), let system = Double(fields[14]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
