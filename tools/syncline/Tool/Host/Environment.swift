// The environment of the process as a value: variables, the start folder, and whether the output is a terminal.

import CLibrary

package struct Environment: Sendable {
    package var variables: [String: String] = [:]
    package var directory = "."
    package var inputIsTerminal = false
    package var outputIsTerminal = false
    package var errorsAreTerminal = false
    /// Columns of the terminal.
    package var width = 80
    /// Lines of the terminal.
    package var height = 24

    /// A variable that is set and not empty.
    package subscript(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The process's own.
    package static func current() -> Environment {
        let names = [
            "SYNCLINE_STORE", "SYNCLINE_PAGER", "PAGER", "NO_COLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS",
            "XDG_STATE_HOME",
            "HOME",
        ]
        var variables: [String: String] = [:]
        for name in names { variables[name] = getenv(name).map { String(cString: $0) } }
        return Environment(
            variables: variables, directory: currentDirectory(), inputIsTerminal: isatty(STDIN_FILENO) == 1,
            outputIsTerminal: isatty(STDOUT_FILENO) == 1, errorsAreTerminal: isatty(STDERR_FILENO) == 1,
            width: terminalSize().width, height: terminalSize().height)
    }

    private static func currentDirectory() -> String {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }

    private static func terminalSize() -> (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return (80, 24) }
        return (Int(size.ws_col), size.ws_row > 2 ? Int(size.ws_row) : 24)
    }
}
