// Long output on a terminal goes through the user's pager, as with other tools. Whether and which one is decided from
// the arguments and the environment; it is run as a pipe to a shell.

import CLibrary

package enum Pager {
    /// The first words of commands with long output.
    private static let paged: Set<String> = [
        "log", "show", "blame", "diff", "query", "pending", "cursors", "conflicts", "inspect", "help",
    ]

    /// The shell command that the output of a call is piped into; nil if there is no pager.
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
        // Output that fits on the screen stays there, with its colours.
        let usual = "command -v less >/dev/null && exec less || exec cat"
        guard let wanted else { return "LESS=${LESS-FRX}; export LESS; " + usual }
        // A missing pager has read nothing: 127 is the shell's code for that.
        return "LESS=${LESS-FRX}; export LESS; \(wanted)\nif [ $? = 127 ]; then exec cat; fi"
    }
}

/// A running pager.
package final class RunningPager {
    private let pipe: UnsafeMutablePointer<FILE>
    package let sink: DescriptorSink

    package init?(_ command: String) {
        guard let pipe = popen(command, "w") else { return nil }
        self.pipe = pipe
        sink = DescriptorSink(fileno(pipe))
    }

    /// Waits until the user leaves the pager.
    package func finish() { pclose(pipe) }
}
