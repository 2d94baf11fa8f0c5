// Lines that show how much of them was read, at a terminal.

final class WatchedLines: LineSource {
    private let lines: any LineSource
    private let progress: TaskProgress
    private var done: UInt64 = 0
    let size: UInt64?

    init(_ lines: any LineSource, _ progress: TaskProgress) {
        self.lines = lines
        self.progress = progress
        size = lines.size
    }

    func next() throws(ToolError) -> [UInt8]? {
        guard let line = try lines.next() else { return nil }
        done += UInt64(line.count) + 1
        progress.move(to: done, of: max(size ?? 0, size == nil ? 0 : done))
        return line
    }

    func finish() { progress.finish() }
}
