// What a command gets from the world: where it writes, what it reads, what time it is, whether it should stop. A process
// gives the real ones, a shell or a test its own.

package import SegmentLog
import SynclineCore
import SynclineWire

/// The world, as the tool sees it.
package struct Host {
    package var environment: Environment
    package var output: any Sink
    package var errors: any Sink
    package var input: any LineSource
    package var clock: any LogClock
    package var interrupt: Interrupt
    /// The store that stays open between commands; none outside a shell.
    package var session: StoreSession?
    /// What stands in for the network; the network, where it is nil.
    var transport: (any HTTPTransport)?
    /// What the server can do, where nobody has asked it yet.
    var knownOfServer: ServerCapabilities = []
    /// The reports that stand in for stores.
    package let reports = ReportShelf()
    /// The form of the output, whatever the words say.
    package var form: OutputForm?

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

/// What a running command works with.
package struct Context {
    package var host: Host
    /// Data.
    package var output: Output
    /// Everything else that is said.
    package var narration: Narration
    package var table: CommandTable

    package var clock: any LogClock { host.clock }
    package var environment: Environment { host.environment }
}
