// The environment of a command: its output, its input, the time, and whether it should stop. A process passes the real
// ones, a shell or a test its own.

package import SegmentLog
import SynclineCore
import SynclineGround
import SynclineWire

/// The environment of the tool.
package struct Host {
    package var environment: Environment
    package var output: any Sink
    package var errors: any Sink
    package var input: any LineSource
    package var clock: any LogClock
    package var interrupt: Interrupt
    /// The time that progress is measured by.
    package var now: @Sendable () -> ContinuousClock.Instant = { SystemSource.instant() }
    /// The store that stays open between commands; none outside a shell.
    package var session: StoreSession?
    /// Replaces the network; nil: use the network.
    var transport: (any HTTPTransport)?
    /// What the server supports, before it is asked.
    var knownOfServer: ServerCapabilities = []
    /// The reports that are read in place of stores.
    package var reports = ReportShelf()
    /// The form of the output, regardless of the arguments.
    package var form: OutputForm?
    /// Gets the values of the result.
    var watched: WatchedValues?

    package init(
        environment: Environment, output: any Sink, errors: any Sink, input: any LineSource,
        clock: any LogClock = SystemClock(), interrupt: Interrupt = Interrupt()
    ) {
        self.environment = environment
        self.output = output
        self.errors = errors
        self.input = input
        self.clock = clock
        self.interrupt = interrupt
    }
}

/// The environment of a running command.
package struct Context {
    package var host: Host
    /// The data that it prints.
    package var output: Output
    /// Messages to the user.
    package var narration: Narration
    package var table: CommandTable

    package var clock: any LogClock { host.clock }
    package var environment: Environment { host.environment }

    func watched(_ lines: any LineSource, _ label: String) -> WatchedLines {
        WatchedLines(lines, narration.progress(label, total: lines.size ?? 0))
    }
}
