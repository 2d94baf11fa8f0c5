// `inspect frames`: the frames in the files of the log, with damage at its place.

import SegmentLog
import Syncline

extension InspectCommand {
    static let frames = Command(
        "inspect frames", "list the frames of the log, in order",
        details: [
            """
            A range also sets the end. Damage is shown at its place, in a line that begins with `!`.
            """,
            """
            LAG is the number of records before the frame that were not known to be durable when it was written.
            """,
        ],
        operands: [Operand("ADDRESS", "where to start: @41, @41..57, @-1 (the last), s7 or s7:5209663")],
        options: [
            Option("segment", value: "N", "show only this segment"),
            Option("limit", short: "n", value: "N", "show the first N rows from ADDRESS, or the last N rows"),
        ],
        examples: [
            Example("syncline inspect frames -n 20", "the twenty newest frames"),
            Example("syncline inspect frames s7:5209663 -n 1", "the frame that holds a byte"),
            Example("syncline inspect frames @41..57", "the frames that hold these records"),
        ],
        result:
            #"""
            [{"address":"s1:512","kind","records","bytes":n,"storedBytes":n,"rawBytes":n,"codec","lag":n,\#
            "transaction":"whole|begins|continues|ends","masked":bool,"time","detail"} or {"address",\#
            "damage":{…}}]
            """#,
        exits: [Exit(.done, "done, whether or not there is damage")],
        run: runFrames)

    private nonisolated(nonsending) static func runFrames(
        _ arguments: Arguments, _ context: Context
    ) async throws -> ExitCode {
        let address = try arguments.address(at: 0)
        let selection = FrameSelection(at: address, segment: try arguments.number("segment"))
        let limit = try arguments.number("limit").map(Int.init)
        let inspection = LogInspection(try context.storage(arguments))
        let claim = HistoryReading.claim(inspection.storage)
        defer { claim?.release() }
        let style = context.output.style
        var list = try ListWriter(
            context.output,
            [
                "ADDRESS", "KIND", "RECORDS", Column("BYTES", .right), Column("RAW", .right), "CODEC",
                Column("LAG", .right), "TIME OR DETAIL",
            ])
        func add(_ found: Found<FrameEntry>) throws {
            switch found {
            case .damage(let damage):
                try list.line(style.marked(damage), json: ["address": .string(damage.address), "damage": damage.json])
            case .item(let entry):
                try list.row(entry.cells(style), json: entry.json)
            }
        }
        if let limit, address == nil {
            var last: [Found<FrameEntry>] = []
            try inspection.frames(selection) { found in
                if last.count >= 2 * limit { last.removeFirst(limit) }
                last.append(found)
            }
            for found in last.suffix(limit) { try add(found) }
        } else {
            var count = 0
            do {
                try inspection.frames(selection) { found in
                    if let limit, count == limit { throw LimitReached() }
                    count += 1
                    try add(found)
                }
            } catch is LimitReached {}
        }
        try list.finish()
        return .done
    }

    /// Thrown when the limit is reached.
    private struct LimitReached: Error {}
}

extension FrameSummary {
    /// The name of the frame's kind, or its number if the kind is unknown.
    fileprivate var kindName: String { kind.map { "\($0)" } ?? "\(kindNumber)" }

    /// The frame's position in its transaction.
    fileprivate var transaction: String {
        switch (continuesFromPrevious, continuesInNext) {
        case (false, false): "whole"
        case (false, true): "begins"
        case (true, true): "continues"
        case (true, false): "ends"
        }
    }
}

extension FrameContent {
    /// The time at which records were written.
    fileprivate var time: WallTime? { if case .records(let time) = self { time } else { nil } }

    /// What else there is to say: `epoch 3`, `@41..43 lost`.
    fileprivate var detail: String? {
        switch self {
        case .records: return nil
        case .hole(let lost): return "\(lost) lost"
        case .filler: return "filler"
        case .session(let session):
            let cut = session.cut.map { ", cut \(session.cutLength) bytes at \($0)" } ?? ""
            return "epoch \(session.epoch), \(session.time.text)\(cut)"
        case .index(let places, let note):
            let note = note.map { ", a note of \($0.bytes.count) bytes through \($0.through)" } ?? ""
            return counted(UInt64(places), "place") + note
        case .seal(let last): return "through \(last)"
        case .fragment(let record): return "part of \(record)"
        }
    }
}

extension FrameEntry {
    /// The frame as a row.
    fileprivate func cells(_ style: TextStyle) -> [Cell] {
        let frame = summary
        let transaction = frame.transaction == "whole" ? "" : "  \(frame.transaction)"
        let shownTime = content?.time.map { style.isForPeople ? $0.humanText : $0.text }
        return [
            Cell(frame.position.description, .address),
            Cell(frame.kindName, frame.kind == .data ? .plain : frame.kind == .hole ? .warning : .dim),
            Cell(frame.records.isEmpty ? "" : frame.records.description),
            Cell(style.count(frame.length.rawValue)),
            Cell(style.count(frame.rawLength.rawValue)),
            Cell(frame.codec + (frame.isMasked ? " masked" : ""), .dim),
            Cell(style.count(frame.durableLag)),
            Cell((shownTime ?? content?.detail ?? "") + transaction, .dim),
        ]
    }

    var json: JSONValue {
        [
            "address": .string(summary.position.description),
            "kind": .string(summary.kindName),
            "records": summary.records.isEmpty ? .null : .string(summary.records.description),
            "bytes": .number(summary.length.rawValue),
            "storedBytes": .number(summary.storedLength.rawValue),
            "rawBytes": .number(summary.rawLength.rawValue),
            "codec": .string(summary.codec),
            "lag": .number(summary.durableLag),
            "transaction": .string(summary.transaction),
            "masked": .boolean(summary.isMasked),
            "time": .optional(content?.time?.text),
            "detail": .optional(content?.detail),
        ]
    }
}
