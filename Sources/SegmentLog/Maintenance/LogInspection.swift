// Inspects a log while a writer may be writing it. A write of another process may be seen half done, and a segment
// may be collected during the read. So damage counts only when two reads agree, and a missing file is looked up
// again.

import SynclineGround

/// Reports about a log. Nothing is ever written.
package struct LogInspection: Sendable {
    package let storage: any LogStorage

    package init(_ storage: any LogStorage) {
        self.storage = storage
    }

    /// How often a changing log is read before the last result is used.
    static let maximumReads = 8

    /// Verifies everything; `visit` gets each intact frame of every read.
    package func verify(
        frame visit: (FrameSummary) -> Void = { _ in }
    ) throws(LogError) -> LogReport {
        var report = try read(visit)
        var reads = 1
        while !report.damage.isEmpty && reads < LogInspection.maximumReads {
            pause()
            var again = try read(visit)
            let agreed = again.damage.filter(Set(report.damage).contains)
            let isSettled = agreed.count == again.damage.count
            reads += 1
            if reads == LogInspection.maximumReads { again.damage = agreed }
            report = again
            if isSettled { break }
        }
        return report
    }

    private func read(_ visit: (FrameSummary) -> Void) throws(LogError) -> LogReport {
        try LogInspection.retryingMissingFiles { () throws(LogError) in
            try LogVerification(storage).run(frame: visit)
        }
    }

    /// Returns the catalog of the log's files.
    package func catalog() throws(LogError) -> LogCatalog {
        var catalog = try LogCatalog(storage)
        for _ in 1..<LogInspection.maximumReads where !catalog.damage.isEmpty {
            pause()
            let again = try LogCatalog(storage)
            if again.damage == catalog.damage { break }
            catalog = again
        }
        return catalog
    }

    /// Returns where the last segment ends, and its damage, if any.
    func tail(
        of segment: LogCatalog.Segment, _ header: SegmentHeader
    ) throws(LogError) -> (scan: TailScan, damage: LogDamage?) {
        var last = try readTail(of: segment, header)
        for _ in 1..<LogInspection.maximumReads where last.scan.verdict != .clean {
            pause()
            let again = try readTail(of: segment, header)
            let isSettled =
                again.scan.verdict == last.scan.verdict && again.scan.tail.offset == last.scan.tail.offset
            last = again
            if isSettled { break }
        }
        return last
    }

    private func readTail(
        of segment: LogCatalog.Segment, _ header: SegmentHeader
    ) throws(LogError) -> (scan: TailScan, damage: LogDamage?) {
        let file = try storage.reading(segment.name)
        defer { file.close() }
        let head = try LogCatalog.readHead(storage)
        let scan = try TailScan(FileWindow(file, name: segment.name), header, head: head.head)
        return (scan, scan.damage(in: segment, endIsKnown: head.isCertain))
    }

    /// Repeats what failed because a file was collected in the meantime.
    static func retryingMissingFiles<Value>(_ body: () throws(LogError) -> Value) throws(LogError) -> Value {
        for _ in 1..<maximumReads {
            do throws(LogError) {
                return try body()
            } catch {
                guard error.isNotFound else { throw error }
            }
        }
        return try body()
    }

    /// Gives a writer time to finish an operation.
    private func pause() {
        SystemSource.block(microseconds: 2000)
    }
}
