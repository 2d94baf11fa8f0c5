// Lines of input: from a terminal through the line editor, or from a pipe.

import CLibrary

final class LineReader {
    private let context: Context
    private var editor: LineEditor
    private let history: LineHistory?
    private var decoder = KeyDecoder()

    /// - Parameter history: The name of the history that keeps the lines.
    init(_ context: Context, history name: String, complete: @escaping (String) -> [String] = { _ in [] }) {
        self.context = context
        history = context.environment.isInteractive ? LineHistory(name, context.environment) : nil
        editor = LineEditor(history: history?.read() ?? [], complete: complete)
    }

    /// Whether the input is a terminal.
    var isInteractive: Bool { context.environment.isInteractive }

    /// The next line; nil at the end.
    func next(_ prompt: String) throws -> String? {
        guard isInteractive, context.environment["TERM"] != "dumb", let mode = RawMode() else {
            if isInteractive { context.narration.prompt(prompt) }
            return try context.host.input.next().map { String(decoding: $0, as: UTF8.self) }
        }
        defer { mode.end() }
        draw(prompt)
        while true {
            guard let byte = RawMode.byte() else { return nil }
            guard let key = decoder.take(byte) else { continue }
            switch editor.handle(key) {
            case .editing: draw(prompt)
            case .entered(let line):
                context.narration.prompt("\r\n")
                history?.add(line)
                return line
            case .cancelled:
                context.narration.prompt("^C\r\n")
                draw(prompt)
            case .ended:
                context.narration.prompt("\r\n")
                return nil
            case .choices(let choices):
                context.narration.prompt("\r\n" + choices.joined(separator: "  ") + "\r\n")
                draw(prompt)
            case .clearScreen:
                context.narration.prompt("\u{1b}[H\u{1b}[2J")
                draw(prompt)
            }
        }
    }

    /// Draws the line again; if it is too long, the part around the cursor.
    private func draw(_ prompt: String) {
        let room = max(8, context.environment.width - prompt.count - 1)
        let start = max(0, editor.cursor - room + 1)
        let shown = String(editor.text[start..<min(editor.text.count, start + room)])
        let column = prompt.count + editor.cursor - start
        context.narration.prompt("\r\u{1b}[K\(prompt)\(escaped(shown))\r" + (column > 0 ? "\u{1b}[\(column)C" : ""))
    }
}

extension Environment {
    fileprivate var isInteractive: Bool { inputIsTerminal && errorsAreTerminal }
}

/// A terminal that passes each key as it is pressed, until it is closed.
struct RawMode {
    private var before = termios()

    /// Nil if the input is not a terminal.
    init?() {
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var raw = before
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0 else { return nil }
    }

    func end() {
        var before = before
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
    }

    /// A byte that was typed already; nil if there is none.
    static func waitingByte() -> UInt8? {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&input, 1, 0) == 1 ? byte() : nil
    }

    /// The next byte; nil at the end.
    static func byte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count == 1 { return byte }
            if count == 0 || errno != EINTR { return nil }
        }
    }
}
