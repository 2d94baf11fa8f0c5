// The command: takes arguments and returns an exit code. Standard output has one line, the address; everything else
// goes to standard error.

import CLibrary
import CMalloc
import Dispatch
import SynclineCore
import SynclineGround
import SynclineWire

package enum ServerTool {
    /// Runs the server until it is told to stop.
    package static func run(_ words: [String]) -> Int32 {
        do {
            switch try parse(words) {
            case .help: Diagnostics.write(ServerArguments.help, to: STDOUT_FILENO)
            case .version: Diagnostics.write("syncline-server \(synclineVersion)\n", to: STDOUT_FILENO)
            case .printConfiguration(let configuration):
                Diagnostics.write(configuration.value.json + "\n", to: STDOUT_FILENO)
            case .dropColumn(let name, let configuration):
                try Server.dropColumn(name, configuration)
                let dropped = Value.object([.init("dropped", .string("\(name.table).\(name.column)"))])
                Diagnostics.write(dropped.json + "\n", to: STDOUT_FILENO)
            case .check(let configuration): return check(configuration)
            case .number(let table, let configuration):
                let count = try Server.number(table, configuration)
                let numbered = Value.object([.init("numbered", .integer(Int64(count)))])
                Diagnostics.write(numbered.json + "\n", to: STDOUT_FILENO)
            case .report(let plan, let configuration): try report(plan, configuration)
            case .load(let plan): return try load(plan)
            case .serve(let configuration): try serve(configuration, words)
            }
            return 0
        } catch let failure as UsageFailure {
            tell(failure.message, failure.hint)
            return 2
        } catch let failure as StartFailure {
            tell(failure.message, failure.hint)
            return 3
        } catch {
            tell("\(error)", nil)
            return 70
        }
    }

    private static func parse(_ words: [String]) throws -> ServerCommand {
        try ServerArguments(
            file: { path throws(StartFailure) in try SystemFiles.read(path) },
            variable: { SystemFiles.variable($0) }
        ).parse(words)
    }

    private static func serve(_ configuration: ServerConfiguration, _ words: [String]) throws(StartFailure) {
        syncline_malloc_keep_buffers(Int32(ConnectionTable.processors))
        let signals = try ServerSignals()
        let allowed = SystemFiles.allowDescriptors(configuration.descriptors)
        var configuration = configuration
        if allowed < configuration.descriptors {
            configuration.limits.connections = max(1, allowed - configuration.otherDescriptors, allowed / 2)
            Diagnostics.note(
                "this process may open only \(allowed) files, fewer than limits.connections needs;"
                    + " it is \(configuration.limits.connections)")
        }
        let server = try Server(configuration)
        var addresses: [Value.Member] = [.init("url", .string(server.url))]
        if let url = server.metricsURL { addresses.append(.init("metrics", .string(url))) }
        Diagnostics.write(Value.object(addresses).json + "\n", to: STDOUT_FILENO)
        ServiceManager.tell(.ready)
        // Waiting for the database must not delay signals.
        let upkeep = DispatchQueue(label: "syncline.upkeep")
        var (due, minutes) = (ContinuousClock.Instant.present, 0)
        while true {
            switch signals.wait(until: due) {
            case .stop:
                ServiceManager.tell(.stopping)
                return server.stop()
            case .reload: reload(server, words)
            case nil:
                // However often settings are read again meanwhile.
                due = .present + .seconds(60)
                let isHour = minutes % 60 == 0
                minutes += 1
                upkeep.async {
                    server.rest()
                    if isHour { server.maintain() }
                }
            }
        }
    }

    /// Reads the configuration again. An invalid one changes nothing.
    private static func reload(_ server: Server, _ words: [String]) {
        do {
            if case .serve(let configuration) = try parse(words) { try server.reload(configuration) }
            server.note("keys and certificates were read again")
        } catch let failure as StartFailure {
            server.note("the new configuration was not used: \(failure.text)")
        } catch {
            server.note("the new configuration was not used: \(error)")
        }
    }

    /// A single line, because operators read logs.
    private static func tell(_ message: String, _ hint: String?) {
        Diagnostics.note("error: " + StartFailure(message, hint: hint).text)
    }
}
