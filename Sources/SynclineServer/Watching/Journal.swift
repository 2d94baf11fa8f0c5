// Queues lines for a descriptor. Writers put lines into a bounded queue, and one thread writes them: a log reader that
// hangs blocks no request. Lines that do not fit are counted, and the count is reported.

import Dispatch
import SynclineGround

struct JournalQueue: Sendable {
    private var text: [UInt8] = []
    private let limit: Int
    /// The number of lines that did not fit since the queue was last emptied.
    private(set) var lost = 0

    /// At most `limit` bytes wait.
    init(limit: Int) { self.limit = limit }

    mutating func add(_ line: String) {
        guard text.count + line.utf8.count <= limit else {
            lost += 1
            return
        }
        text += line.utf8
    }

    /// Removes and returns the waiting lines; `lostLine` reports the lost ones.
    mutating func take(_ lostLine: (Int) -> String) -> [UInt8] {
        defer { (text, lost) = ([], 0) }
        return lost == 0 ? text : text + lostLine(lost).utf8
    }
}

final class Journal: Sendable {
    private struct State: Sendable {
        var lines: JournalQueue
        var isWriting = false
        var lost = 0
    }

    private let descriptor: Int32
    private let lostLine: @Sendable (Int) -> String
    private let state: Mutex<State>
    private let writer = DispatchQueue(label: "syncline.journal")

    init(descriptor: Int32, limit: Int = 1 << 20, lostLine: @escaping @Sendable (Int) -> String) {
        self.descriptor = descriptor
        self.lostLine = lostLine
        state = Mutex(State(lines: JournalQueue(limit: limit)))
    }

    /// The number of lines lost so far.
    var lost: Int { state.withLock { $0.lost + $0.lines.lost } }

    /// Queues a line, and never waits.
    func write(_ line: String) {
        let isFirst = state.withLock { state in
            state.lines.add(line)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst { writer.async { self.drain() } }
    }

    private func drain() {
        while true {
            let bytes = state.withLock { state in
                state.lost += state.lines.lost
                let bytes = state.lines.take(lostLine)
                state.isWriting = !bytes.isEmpty
                return bytes
            }
            if bytes.isEmpty { return }
            Diagnostics.write(bytes, to: descriptor)
        }
    }

    /// Waits until all queued lines are written, but no longer than this number of seconds.
    func flush(seconds: Int) {
        let done = TimedSemaphore(value: 0)
        writer.async { done.signal() }
        _ = done.wait(atMost: .seconds(seconds))
    }
}
