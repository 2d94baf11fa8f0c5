// Long answers at a terminal go through the reader's pager, as those of other tools do. Whether and through which one is decided
// from the words and the surroundings; running it is a pipe to a shell.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

package enum Pager {
    /// What shows lists and stories, by its first word.
    private static let paged: Set<String> = [
        "log", "show", "blame", "diff", "query", "pending", "cursors", "conflicts", "inspect", "help",
    ]

    /// The shell command that the answer to a call is piped into; nil if it is shown as it is.
    package static func command(
        _ words: [String], _ environment: Environment, table: CommandTable = .all
    ) -> String? {
        guard environment.outputIsTerminal, environment.inputIsTerminal, environment["TERM"] ?? "dumb" != "dumb",
            let request = try? ArgumentParser.parse(words, table)
        else { return nil }
        if case .run(let arguments) = request, !paged.contains(arguments.command.path[0]) { return nil }
        if case .version = request { return nil }
        let wanted = environment.variables["SYNCLINE_PAGER"] ?? environment.variables["PAGER"]
        if let wanted, wanted.isEmpty || wanted == "cat" { return nil }
        // What fits on the screen is left there, with its colours.
        let usual = "command -v less >/dev/null && exec less || exec cat"
        guard let wanted else { return "LESS=${LESS-FRX}; export LESS; " + usual }
        // A pager that is not there has read nothing: 127 is the shell's word for that.
        return "LESS=${LESS-FRX}; export LESS; \(wanted)\nif [ $? = 127 ]; then exec cat; fi"
    }
}

/// A pager that runs.
package final class RunningPager {
    private let pipe: UnsafeMutablePointer<FILE>
    package let sink: DescriptorSink

    package init?(_ command: String) {
        guard let pipe = popen(command, "w") else { return nil }
        self.pipe = pipe
        sink = DescriptorSink(fileno(pipe))
    }

    /// Waits until the reader has seen enough.
    package func finish() { pclose(pipe) }
}
