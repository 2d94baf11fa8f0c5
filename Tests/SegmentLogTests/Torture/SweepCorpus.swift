// The small log that the sweeps damage. It holds every kind of frame and codec: sealed segments and an open one,
// a note in an index, a masked frame, a hole, fragments and transactions of several frames,
// sessions, a checkpoint, a quarantined stretch, and space ahead of its end.

import LogTesting
import SegmentLog

struct SweepCorpus: Sendable {
    /// Closed, or only attested and left open as by a process that ended.
    enum Ending: Sendable, CaseIterable {
        case closed, attested
    }

    let tree: MemoryStorage
    /// What a reader finds in it while it is intact.
    let reading: Reading
    /// The segments, in order.
    let segments: [String]
    /// Files that contain nothing the segments do not show.
    let derived: [String]

    init(_ ending: Ending, seed: UInt64 = 1) throws {
        tree = MemoryStorage()
        var source = RecordSource(seed: seed)
        let clock = TestClock(seed: seed)
        try SweepCorpus.writeHistory(tree, &source, clock)
        try SweepCorpus.leaveHole(tree, clock)
        try SweepCorpus.writeEnd(tree, &source, clock, ending)
        reading = try TortureReader.read(tree)
        if let error = reading.error { throw TortureFailure("the corpus is damaged: \(error)") }
        segments = tree.allNames().files.filter { $0.hasSuffix(".seg") }
        let known = segments
        derived = tree.allNames().files.filter { !known.contains($0) }
    }

    /// Files in which bits are flipped.
    var files: [String] { segments + derived.filter { $0 != FileName.lock && !$0.hasPrefix(FileName.quarantine) } }

    private static func open(
        _ tree: MemoryStorage, _ clock: TestClock, compresses: Bool = true
    ) throws -> LogWriter {
        var configuration = LogConfiguration.small(segment: 6144, zeroAhead: 1024)
        configuration.acceleration = 1
        configuration.compresses = compresses
        return try LogWriter.open(tree, configuration: configuration, clock: clock)
    }

    private static func writeHistory(_ tree: MemoryStorage, _ source: inout RecordSource, _ clock: TestClock) throws {
        // The zeros in the middle are stored, and masked for rule Z.
        var writer = try open(tree, clock, compresses: false)
        let random = (0..<1200).map { _ in UInt8(truncatingIfNeeded: source.numbers.next()) }
        try writer.append(RecordBatch(random[..<500] + [UInt8](repeating: 0, count: 300) + random[500...]))
        try writer.close()
        writer = try open(tree, clock)
        for _ in 0..<6 { try writer.append(RecordBatch(records: (0..<3).map { _ in source.record(limit: 700) })) }
        try writer.setNote(LogNote(through: writer.durableThrough, bytes: Array("a note".utf8)))
        try writer.roll()
        for index in 0..<5 {
            let durability: Durability = index % 2 == 0 ? .buffered : .durable
            try writer.append(
                RecordBatch(records: (0..<2).map { _ in source.record(limit: 900) }), durability: durability)
        }
        // A record in fragments, and records over two frames.
        let text = Array("a line of a long text that compresses very well. ".utf8)
        try writer.append(
            RecordBatch(records: [source.record(limit: 50), repeated(text, 66_000), source.record(limit: 50)]))
        try writer.append(RecordBatch(records: (0..<3).map { _ in repeated(text, 23_000) }))
        try writer.roll()
        for _ in 0..<4 { try writer.append(RecordBatch(source.record(limit: 300))) }
        var checkpoint = try CheckpointWriter.begin(for: writer, through: writer.durableThrough, clock: clock)
        for block in [random, text, []] {
            _ = try block.withUnsafeBytes { bytes throws(LogError) in try checkpoint.append(bytes) }
        }
        try checkpoint.finish(note: Array("state".utf8))
        try writer.roll()
        try writer.close()
    }

    private static func repeated(_ text: [UInt8], _ length: Int) -> [UInt8] {
        (0..<length).map { text[$0 % text.count] }
    }

    /// Damages a frame in the middle of the first segment and heals it.
    private static func leaveHole(_ tree: MemoryStorage, _ clock: TestClock) throws {
        var frames: [FrameSummary] = []
        _ = try LogVerification(tree).run { frames.append($0) }
        let victim = frames.filter { $0.position.segment == 1 && $0.kind == .data }[3]
        let name = FileName.segment(ordinal: 1, first: .first)
        guard var bytes = tree.contents(of: name) else { throw TortureFailure("\(name) is missing") }
        bytes[Int(victim.position.offset) + 60] ^= 0xff
        tree.setContents(bytes, of: name)
        let healed = try LogHealing(tree, clock: clock).run { _ in true }
        try require(!healed.isEmpty, "nothing was healed")
    }

    private static func writeEnd(
        _ tree: MemoryStorage, _ source: inout RecordSource, _ clock: TestClock, _ ending: Ending
    ) throws {
        var writer = try open(tree, clock)
        for _ in 0..<3 { try writer.append(RecordBatch(records: (0..<2).map { _ in source.record(limit: 250) })) }
        try writer.close()
        writer = try open(tree, clock)
        for _ in 0..<2 { try writer.append(RecordBatch(source.record(limit: 200))) }
        switch ending {
        case .closed: try writer.close()
        case .attested: try writer.attest()
        }
    }
}
