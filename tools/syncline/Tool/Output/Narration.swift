// Messages on standard error: warnings, hints, errors, and progress on a terminal.

import SynclineInspect

package final class Narration {
    package let style: TextStyle
    private let sink: any Sink
    private let isTerminal: Bool
    private let output: Output?
    private var hasProgress = false

    /// Flushed first, so that earlier output appears before the message.
    package init(_ sink: any Sink, style: TextStyle, isTerminal: Bool, behind output: Output? = nil) {
        self.output = output
        self.sink = sink
        self.style = style
        self.isTerminal = isTerminal
    }

    /// Writes a line. It is not a failure if standard error is closed.
    package func say(_ text: String) {
        erase()
        try? output?.flush()
        try? sink.write(text + "\n")
        try? sink.flush()
    }

    /// Prompts for a line.
    package func prompt(_ text: String) {
        try? output?.flush()
        try? sink.write(text)
        try? sink.flush()
    }

    /// Writes a hint.
    package func hint(_ text: String) {
        say(style.paint("hint: ", .heading) + escaped(text))
    }

    package func warn(_ text: String) {
        say(style.paint("! ", .warning) + escaped(text))
    }

    func fail(_ error: ToolError) {
        for line in error.lines(style) { say(line) }
    }

    // MARK: Progress

    /// Shows progress on a terminal; nothing if the work ends within half a second.
    package func progress(_ label: String, total: UInt64) -> Progress {
        Progress(isTerminal ? self : nil, label, total: total)
    }

    /// Shows progress in its own words.
    func showProgress(_ text: String) {
        if isTerminal { show(style.paint(text, .dim)) }
    }

    func endProgress() { erase() }

    fileprivate func show(_ text: String) {
        hasProgress = true
        try? sink.write("\r\u{1b}[K" + text)
        try? sink.flush()
    }

    fileprivate func erase() {
        guard hasProgress else { return }
        hasProgress = false
        try? sink.write("\r\u{1b}[K")
        try? sink.flush()
    }
}

/// A task that takes time.
package final class Progress {
    private let narration: Narration?
    private let label: String
    private var total: UInt64
    /// What was done before it was watched.
    private var before: UInt64 = 0
    private let begin = ContinuousClock.now
    private var shown: ContinuousClock.Instant
    private var done: UInt64 = 0

    init(_ narration: Narration?, _ label: String, total: UInt64) {
        self.narration = narration
        self.label = label
        self.total = total
        shown = begin.advanced(by: .milliseconds(400))
    }

    /// More of it was done.
    package func advance(by count: UInt64) { move(to: done + count, of: total) }

    /// So much of it is done. What begins again, or elsewhere, is measured from there.
    package func move(to done: UInt64, of total: UInt64) {
        guard let narration else { return }
        if done < self.done || self.total != total { before = done }
        (self.done, self.total) = (done, total)
        let now = ContinuousClock.now
        guard now - shown >= .milliseconds(100) else { return }
        shown = now
        let seconds = max(0.001, (now - begin) / .seconds(1))
        let rate = max(1, Double(done - before) / seconds)
        var text = "\(label)  \(humanBytes(done))"
        if total > 0 {
            let left = done < total ? Double(total - done) / rate : 0
            text += " of \(humanBytes(total)), \(min(100, done * 100 / total)) %"
            text += "  \(humanBytes(UInt64(rate)))/s  \(decimal(left, places: 0)) s left"
        }
        narration.show(narration.style.paint(text, .dim))
    }

    package func finish() {
        narration?.erase()
    }
}
