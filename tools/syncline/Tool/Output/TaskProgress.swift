// Shows how far a long task is: on one line of a terminal, which is replaced and then erased. Nothing is shown of a task
// that ends within half a second.

package final class TaskProgress {
    /// The unit of progress.
    package enum Measure: Sendable { case bytes, rows }

    private let narration: Narration?
    private let label: String
    private let measure: Measure
    private let now: () -> ContinuousClock.Instant
    private let begin: ContinuousClock.Instant
    private var shown: ContinuousClock.Instant
    private var done: UInt64 = 0
    private var total: UInt64
    /// Where the present part of the task began, and when.
    private var part: (start: UInt64, time: ContinuousClock.Instant)?

    /// What a rate is measured over, at least.
    private static let measurable = Duration.milliseconds(500)
    private static let pause = Duration.milliseconds(100)

    /// - Parameter narration: Nil if there is no terminal.
    init(
        _ narration: Narration?, _ label: String, total: UInt64, in measure: Measure,
        now: @escaping () -> ContinuousClock.Instant
    ) {
        self.narration = narration
        self.label = label
        self.measure = measure
        self.total = total
        self.now = now
        begin = now()
        shown = begin.advanced(by: TaskProgress.measurable - TaskProgress.pause)
        if total > 0 { part = (0, begin) }
    }

    /// More of it was done.
    package func advance(by count: UInt64) { move(to: done + count, of: total) }

    /// Sets how much is done. If that is less than before, or the task did not begin at 0, the rate is measured from there. A
    /// total of 0 is not known.
    package func move(to done: UInt64, of total: UInt64) {
        guard let narration else { return }
        let now = now()
        if part == nil || done < self.done { part = (total > 0 ? done : 0, now) }
        (self.done, self.total) = (done, total)
        guard let part, now - shown >= TaskProgress.pause else { return }
        shown = now
        narration.showProgress(text(since: part.start, for: now - part.time))
    }

    private func text(since start: UInt64, for time: Duration) -> String {
        let (found, wanted) = (done - min(done, start), total - min(total, start))
        var text = "\(label)  "
        if total > 0 {
            text += "\(measure.number(found)) of \(measure.text(wanted)), \(found * 100 / max(wanted, 1)) %"
        } else {
            text += measure.text(found)
        }
        guard time >= TaskProgress.measurable, found > 0 else { return text }
        let rate = Double(found) / (time / .seconds(1))
        text += "  \(measure.text(UInt64(rate)))/s"
        if total > 0 { text += "  \(decimal(Double(wanted - min(wanted, found)) / rate, places: 0)) s left" }
        return text
    }

    package func finish() { narration?.endProgress() }
}

extension TaskProgress.Measure {
    /// A number that is followed by another one with its unit.
    fileprivate func number(_ count: UInt64) -> String { self == .bytes ? humanBytes(count) : grouped(count) }

    fileprivate func text(_ count: UInt64) -> String { self == .bytes ? humanBytes(count) : counted(count, "row") }
}
