// What must hold for a whole log: before it is opened again, after, and at the end of a history.

import LogTesting
import SegmentLog

extension Simulation {
    /// The segments' names, in order.
    func segmentNames() throws -> [(ordinal: UInt64, first: SequenceNumber)] {
        try disk.names(in: "").sorted().compactMap(FileName.parseSegment)
    }

    /// Returns the newest checkpoint whose every byte verifies; 0 if there is none.
    func newestCheckpoint() throws -> UInt64 {
        guard let identity = try? LogReader.open(disk).identity else { return 0 }
        for through in try Checkpoint.list(disk) {
            guard let checkpoint = try? Checkpoint.open(disk, through: through, identity: identity) else { continue }
            do { try checkpoint.verify() } catch { continue }
            return through.rawValue
        }
        return 0
    }

    /// Returns every record the log shows, with the number of the first.
    private func readAll() throws -> (records: [[UInt8]], first: UInt64) {
        var records: [[UInt8]] = []
        var cursor = try LogReader.open(disk, showing: .written).cursor()
        let first = try segmentNames().first?.first.rawValue ?? 1
        while try cursor.nextFrame() {
            try cursor.forEachRecord { number, bytes in
                guard number.rawValue == first + UInt64(records.count) else {
                    throw SimulationFailure("\(number) follows @\(first + UInt64(records.count) - 1)")
                }
                records.append(bytes.withUnsafeBytes { [UInt8]($0) })
            }
        }
        return (records, first)
    }

    /// A reader finds what the model says even before a writer repaired anything; a crash does not damage HEAD.
    func checkBeforeOpening(wasOpened: Bool) throws {
        if try LogCatalog.readHead(disk).isDamaged { throw SimulationFailure("HEAD can't be read") }
        guard wasOpened else { return }
        let (records, first) = try readAll()
        _ = try model.explain(records, from: first)
        if let newest = try LogCatalog(disk).segments.last, newest.ordinal > 1,
            newest.first.rawValue == first + UInt64(records.count)
        {
            model.leastTime = max(model.leastTime, newest.header?.created.rawValue ?? 0)
        }
        try letReadersFollow(ofDurableOnly: true)
    }

    func checkAfterOpening(_ writer: LogWriter) throws {
        let (records, first) = try readAll()
        model.adopt(try model.explain(records, from: first))
        let last = model.next - 1
        guard writer.lastSequence.rawValue == last, writer.durableThrough.rawValue == last else {
            throw SimulationFailure(
                "the log was opened with \(writer.lastSequence), durable through \(writer.durableThrough), and holds records through @\(last)"
            )
        }
        guard let head = try LogCatalog.readHead(disk).head else { throw SimulationFailure("an open log has no HEAD") }
        guard head.epoch > epoch, !head.isClean, head.floor.rawValue <= model.floor else {
            throw SimulationFailure("HEAD is not that of an open log after epoch \(epoch): \(head)")
        }
        epoch = head.epoch
        let names = try disk.names(in: "")
        if names.contains(where: { $0.hasSuffix(".tmp") }) {
            throw SimulationFailure("something unfinished was left: \(names.sorted())")
        }
        try checkCheckpoints(first: first, last: last)
    }

    /// No checkpoint is ahead of the log, and what was collected is covered by one.
    private func checkCheckpoints(first: UInt64, last: UInt64) throws {
        let newest = try newestCheckpoint()
        if newest > last { throw SimulationFailure("a checkpoint covers @\(newest), and the log ends with @\(last)") }
        if newest + 1 < first {
            throw SimulationFailure("the log begins with @\(first), and the newest checkpoint covers @\(newest)")
        }
    }

    /// A follower of a log that was just attested has seen all of it.
    func checkFollowers() throws {
        try letReadersFollow()
        guard let first = try segmentNames().first?.first.rawValue, first < model.next else { return }
        for follower in followers where !follower.hasSeen(first...model.next - 1, of: model) {
            throw SimulationFailure(
                "a reader of \(follower.visibility) records waits for @\(follower.next ?? 0); the log ends with @\(model.next - 1)"
            )
        }
    }

    func checkWhole() throws {
        let report = try LogVerification(disk).run()
        if let damage = report.damage.first { throw SimulationFailure("verification found damage: \(damage)") }
        let expected = model.next - (try segmentNames().first?.first.rawValue ?? 1)
        guard report.records == expected else {
            throw SimulationFailure("verification counts \(report.records) records of \(expected)")
        }
        for segment in report.segments where segment.isSealed && segment.length != segment.fileSize {
            throw SimulationFailure(
                "\(segment.name) was sealed and is \(segment.fileSize) long, with frames of \(segment.length)")
        }
    }

    func checkIsClean() throws {
        guard let head = try LogCatalog.readHead(disk).head, head.isClean,
            head.durableThrough.rawValue == model.next - 1
        else {
            throw SimulationFailure("HEAD does not say that the log was closed")
        }
    }
}
