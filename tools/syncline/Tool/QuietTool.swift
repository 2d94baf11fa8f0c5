// Runs command lines whose output stays in memory: for a shell of programs and for an assistant.

import SegmentLog
import SynclineCore
import SynclineWire

/// What such command lines share. Several may run at once.
struct QuietTool: Sendable {
    private(set) var environment: Environment
    private let clock: any LogClock
    let interrupt: Interrupt
    private let session: StoreSession?
    private let transport: (any HTTPTransport)?
    private let knownOfServer: ServerCapabilities

    /// What a command line wrote.
    struct Answer: Sendable {
        var exit: ExitCode
        var output: String
        var errors: String
        /// The first values and elements of the result, whatever its form.
        var values: [JSONValue]
        /// Whether the output has reached the limit, and the rest of it is missing.
        var isCut: Bool
    }

    init(_ host: Host) {
        environment = host.environment
        clock = host.clock
        interrupt = host.interrupt
        session = host.session
        transport = host.transport
        knownOfServer = host.knownOfServer
    }

    /// - Parameters:
    ///   - limit: The size of the output in bytes, because it is in memory until it is complete.
    ///   - kept: How many values are kept.
    ///   - reports: The reports that are unpacked already.
    func run(
        _ words: [String], input: String = "", as form: OutputForm = .json, limit: Int, keeping kept: Int = 0,
        reports: ReportShelf = ReportShelf()
    ) async -> Answer {
        let (output, errors, watched) = (MemorySink(limit: limit), MemorySink(), WatchedValues(limit: kept))
        var host = Host(
            environment: environment, output: output, errors: errors, input: MemoryLines(input), clock: clock,
            interrupt: interrupt)
        (host.session, host.reports, host.form) = (session, reports, form)
        (host.transport, host.knownOfServer) = (transport, knownOfServer)
        if kept > 0 { host.watched = watched }
        let exit = await Tool(host).run(words)
        return Answer(
            exit: exit, output: output.text, errors: errors.text, values: watched.values, isCut: output.isClosed)
    }
}
