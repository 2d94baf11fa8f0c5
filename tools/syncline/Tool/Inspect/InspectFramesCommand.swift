// `inspect frames`: the frames in the files of the log, with damage at its place.

import SegmentLog
import Syncline

extension InspectCommand {
    static let frames = Command(
        "inspect frames", "list the frames of the log or of a checkpoint, in order",
        details: [
            """
            A range also sets the end. Damage is shown at its place, in a line that begins with `!`.
            """,
            """
            LAG counts the records before the frame that were not known to be durable when it was written.
            """,
        ],
        operands: [
            Operand(
                "ADDRESS",
                "where to start: @41, @41..57, @-1 (the last), s7, s7:5209663; c40 or c40:4096 (a checkpoint)")
        ],
        options: [
            Option("segment", value: "N", "show only this segment"),
            Option("limit", short: "n", value: "N", "show the first N rows from ADDRESS, or the last N rows"),
        ],
        examples: [
            Example("syncline inspect frames -n 20", "the twenty newest frames"),
            Example("syncline inspect frames c40", "the blocks of a checkpoint"),
        ],
        result:
            #"""
            [{"address":"s1:512","kind","records","bytes":n,"storedBytes":n,"rawBytes":n,"codec","lag":n,\#
            "transaction":"whole|begins|continues|ends","masked":bool,"time","detail"} or {"address",\#
            "damage":{…}}]
            """#,
        exits: [Exit(.done, "done, also with damage")],
        run: runFrames)

    private static let columns: [Column] = [
        "ADDRESS", "KIND", "RECORDS", Column("BYTES", .right), Column("RAW", .right), "CODEC", Column("LAG", .right),
        "TIME OR DETAIL",
    ]

    private static func runFrames(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let address = try arguments.address(at: 0)
        let selection = FrameSelection(at: address, segment: try arguments.number("segment"))
        let limit = try arguments.number("limit").map(Int.init)
        let inspection = LogInspection(try context.storage(arguments))
        if case .checkpoint(let through, let offset)? = address {
            return try list(through, from: offset, limit: limit, inspection, context)
        }
        let claim = HistoryReading.claim(inspection.storage)
        defer { claim?.release() }
        let style = context.output.style
        var list = try ListWriter(context.output, columns)
        func add(_ found: Found<FrameEntry>) throws {
            switch found {
            case .damage(let damage):
                try list.line(style.marked(damage), json: ["address": .string(damage.address), "damage": damage.json])
            case .item(let entry):
                try list.row(entry.cells(style), json: entry.json())
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
        return try list.finish()
    }

    /// Lists the frames of a checkpoint.
    private static func list(
        _ through: SequenceNumber, from offset: UInt64, limit: Int?, _ inspection: LogInspection, _ context: Context
    ) throws -> ExitCode {
        let catalog = try inspection.catalog()
        guard catalog.checkpoints.contains(through) else {
            throw ToolError(
                "invalid-argument", "there is no checkpoint of \(through)",
                hint: "`syncline inspect checkpoints` lists them.")
        }
        let checkpoint = try CheckpointReading(inspection, catalog.identity, through: through)
        let style = context.output.style
        var list = try ListWriter(context.output, columns)
        var count = 0
        try checkpoint.frames(from: offset) { start, length, header in
            if count == limit { return false }
            count += 1
            if let header {
                let frame = CheckpointFrame(header, at: start, in: checkpoint)
                try list.row(frame.entry.cells(style, frame), json: frame.entry.json(frame))
            } else {
                let damage = checkpoint.damage(start, length)
                let address = JSONValue.string(checkpoint.address(start))
                try list.line(style.marked(damage), json: ["address": address, "damage": damage.json])
            }
            return true
        }
        return try list.finish()
    }

    /// Thrown when the limit is reached.
    private struct LimitReached: Error {}
}

extension FrameEntry {
    /// The frame as a row.
    fileprivate func cells(_ style: TextStyle, _ block: CheckpointFrame? = nil) -> [Cell] {
        let frame = summary
        let transaction = frame.transaction == "whole" ? "" : "  \(frame.transaction)"
        let shownTime = content?.time.map { style.isForPeople ? $0.humanText : $0.text }
        return [
            Cell(block?.address ?? frame.position.description, .address),
            Cell(frame.kindName, frame.kind == .data ? .plain : frame.kind == .hole ? .warning : .dim),
            Cell(frame.records.isEmpty ? "" : frame.records.description),
            Cell(style.count(frame.length.rawValue)),
            Cell(style.count(frame.rawLength.rawValue)),
            Cell(frame.codec + (frame.isMasked ? " masked" : ""), .dim),
            Cell(style.count(frame.durableLag)),
            Cell((shownTime ?? block?.role?.rawValue ?? content?.detail ?? "") + transaction, .dim),
        ]
    }
}
