// What is said beside the data, on standard error: warnings, hints, errors, and progress where people wait.

import SynclineInspect

package final class Narration {
    package let style: TextStyle
    private let sink: any Sink
    private let isTerminal: Bool
    private let output: Output?
    private var hasProgress = false

    /// What was written to `output` before is shown before.
    package init(_ sink: any Sink, style: TextStyle, isTerminal: Bool, behind output: Output? = nil) {
        self.output = output
        self.sink = sink
        self.style = style
        self.isTerminal = isTerminal
    }

    /// Says a line. Nobody listening is no failure.
    package func say(_ text: String) {
        erase()
        try? output?.flush()
        try? sink.write(text + "\n")
        try? sink.flush()
    }

    /// Asks for a line.
    package func prompt(_ text: String) {
        try? output?.flush()
        try? sink.write(text)
        try? sink.flush()
    }

    /// Says what to do next.
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

    /// Shows how far something is, where somebody watches; nothing for what is done within half a second.
    package func progress(_ label: String, total: UInt64) -> Progress {
        Progress(isTerminal ? self : nil, label, total: total)
    }

    /// Shows how far something is, in the words of its own.
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

/// Something that takes a while.
package final class Progress {
    private let narration: Narration?
    private let label: String
    private let total: UInt64
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
    package func advance(by count: UInt64) {
        guard let narration else { return }
        done += count
        let now = ContinuousClock.now
        guard now - shown >= .milliseconds(100) else { return }
        shown = now
        let seconds = max(0.001, (now - begin) / .seconds(1))
        let rate = Double(done) / seconds
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
