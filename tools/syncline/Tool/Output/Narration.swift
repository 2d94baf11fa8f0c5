// Messages on standard error: warnings, hints, errors, and progress on a terminal.

import SynclineGround

package final class Narration {
    package let style: TextStyle
    private let sink: any Sink
    private let isTerminal: Bool
    private let output: Output?
    /// The time, for progress.
    private let now: () -> ContinuousClock.Instant
    private var hasProgress = false

    /// Flushed first, so that earlier output appears before the message.
    package init(
        _ sink: any Sink, style: TextStyle, isTerminal: Bool, after output: Output? = nil,
        now: @escaping () -> ContinuousClock.Instant = { SystemSource.instant() }
    ) {
        self.now = now
        self.output = output
        self.sink = sink
        self.style = style
        self.isTerminal = isTerminal
    }

    /// Writes a line. It is not a failure if standard error is closed.
    package func say(_ text: String) {
        endProgress()
        prompt(text + "\n")
    }

    /// Prompts for a line.
    package func prompt(_ text: String) {
        try? output?.flush()
        write(text)
    }

    /// Writes a hint.
    package func hint(_ text: String) {
        say(style.paint("hint: ", .heading) + escaped(text))
    }

    package func warn(_ text: String) {
        say(style.paint("! ", .warning) + escaped(text))
    }

    /// Says that a store could not be closed after its changes were stored.
    func warnOfClosing(_ reason: String) {
        warn("everything is stored, but the store could not be closed: \(reason)")
    }

    func fail(_ error: ToolError) {
        for line in error.lines(style) { say(line) }
    }

    // MARK: Progress

    /// Shows progress on a terminal; nothing if the work ends within half a second.
    package func progress(
        _ label: String, total: UInt64, in measure: TaskProgress.Measure = .bytes
    ) -> TaskProgress {
        TaskProgress(isTerminal ? self : nil, label, total: total, in: measure, now: now)
    }

    /// Shows progress in its own words.
    func showProgress(_ text: String) {
        guard isTerminal else { return }
        hasProgress = true
        // A line that is wider than the terminal could not be erased.
        let line = style.paint(style.cut(text, to: (style.width ?? .max) - 1), .dim)
        write("\r\u{1b}[K" + line)
    }

    func endProgress() {
        guard hasProgress else { return }
        hasProgress = false
        write("\r\u{1b}[K")
    }

    private func write(_ text: String) {
        try? sink.write(text)
        try? sink.flush()
    }
}
