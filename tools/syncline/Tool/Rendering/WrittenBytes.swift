// What was written since the store was opened last: the values, and the bytes of the files that hold them. Only what the
// files still have is known: zeros ahead, HEAD and removed checkpoints are not counted, so it is the least.

import SegmentLog
import Syncline

struct WrittenBytes {
    /// The event from which on it counts.
    let since: UInt64
    /// Ids and values that the app changed.
    private(set) var own: UInt64 = 0
    /// Ids and values that the server sent.
    private(set) var received: UInt64 = 0
    /// Headers and frames of segments.
    private(set) var log: UInt64 = 0
    private(set) var checkpoints: UInt64 = 0

    /// - Parameter opening: The event that opened the store; nil for the first one.
    init(_ storage: any LogStorage, since opening: UInt64?) throws {
        let inspection = LogInspection(storage)
        let catalog = try inspection.catalog()
        since = max(opening ?? 1, catalog.floor.rawValue)
        let first = SequenceNumber(rawValue: since)
        for (index, segment) in catalog.segments.enumerated() {
            if let next = catalog.segments.successor(of: index), next.first <= first { continue }
            let start = segment.first >= first ? 0 : try WrittenBytes.start(of: first, in: segment, inspection)
            log += try inspection.end(of: segment) - start
        }
        checkpoints = catalog.checkpoints.filter { $0 >= first }.reduce(0) {
            $0 + storage.size(of: FileName.checkpoint(through: $1))
        }
        let shapes = ShapeTable()
        try inspection.forEachRecord(from: since) { _, record in
            guard var reader = try? EventReader(record, shapes) else { return true }
            if reader.kind == .local {
                own += (try? reader.valueBytes()).map { UInt64($0) } ?? 0
            } else if let values = (try? Event(record, shapes: shapes))?.valueBytes {
                own += UInt64(values.own)
                received += UInt64(values.received)
            }
            return true
        }
    }

    /// Where the frame with a record begins; the end of the segment if it has none.
    private static func start(
        of record: SequenceNumber, in segment: LogCatalog.Segment, _ inspection: LogInspection
    ) throws -> UInt64 {
        struct Found: Error { var offset: UInt64 }
        var selection = FrameSelection(segment: segment.ordinal)
        selection.records = .number(record)
        do {
            try inspection.frames(selection) { found in
                if case .item(let entry) = found { throw Found(offset: entry.summary.position.offset) }
            }
            return try inspection.end(of: segment)
        } catch let found as Found {
            return found.offset
        }
    }

    /// How many bytes were written for each byte of a value; nil without values.
    var amplification: Double? {
        own + received == 0 ? nil : Double(log + checkpoints) / Double(own + received)
    }

    var json: JSONValue {
        [
            "since": .string("@\(since)"), "ownValues": .number(own), "serverValues": .number(received),
            "logBytes": .number(log), "checkpointBytes": .number(checkpoints),
            "amplification": amplification.map { .number($0, places: 2) } ?? .null,
        ]
    }

    var lines: [String] {
        [
            "opened at event \(since)", "own value bytes since then \(own)",
            "server value bytes since then \(received)", "log bytes since then \(log)",
            "checkpoint bytes since then \(checkpoints)",
        ] + (amplification.map { ["write amplification \(decimal($0, places: 2))"] } ?? [])
    }
}

extension Event {
    /// The bytes of ids and values that the app changed, and that the server sent.
    fileprivate var valueBytes: (own: Int, received: Int) {
        func size(_ id: String, _ row: Row?) -> Int { id.utf8.count + (row?.bytes.count ?? 0) }
        switch body {
        case .resolved(let resolution): return (resolution.change?.columns.bytes.count ?? 0, 0)
        case .page(let page): return (0, page.rows.reduce(0) { $0 + size($1.id, $1.row) })
        case .answered(let answer): return (0, answer.outcome.row?.bytes.count ?? 0)
        default: return (0, 0)
        }
    }
}
