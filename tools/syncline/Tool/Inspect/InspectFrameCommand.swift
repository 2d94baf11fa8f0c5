// `inspect frame`: one frame, the header of a file, or a small file, with every byte named.

import SegmentLog
import Syncline
import SynclineGround

extension InspectCommand {
    static let frame = Command(
        "inspect frame", "name every byte of a frame",
        details: [
            """
            The fields are those of docs/FORMAT.md and docs/STATE.md: the stored frame, then its payload if it \
            verifies. CHECK says whether a field is right. HEAD, LOCK, ERASE, leases/… and tributaries/… are shown whole.
            """
        ],
        operands: [
            Operand(
                "ADDRESS",
                "s7:5209663 or c40:4096 (a checkpoint), the frame or header that holds the byte, @41, or HEAD",
                isRequired: true)
        ],
        options: [Option("bytes", "show the bytes of each field"), .full],
        examples: [
            Example("syncline inspect frame s1:512 --bytes", "the first frame of a log"),
            Example("syncline inspect frame HEAD", "the file HEAD"),
        ],
        result:
            #"[{"part":"header|frame|payload|file","offset":n,"size":n,"field","value","right":bool or null,"bytes"?:"d746…"}]"#,
        exits: [Exit(.no, "the frame does not exist, or is damaged")], run: runFrame)

    private static func runFrame(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let inspection = LogInspection(try context.storage(arguments))
        let claim = HistoryReading.claim(inspection.storage)
        defer { claim?.release() }
        let address = try arguments.address(at: 0)
        guard let found = try FrameReading(inspection, address) else {
            try context.output.value([])
            if context.output.form.isText { context.narration.say("\(escaped(arguments.operands[0])) does not exist") }
            return .no
        }
        let showsBytes = arguments.flag("bytes")
        var columns: [Column] = ["PART", Column("OFFSET", .right), Column("SIZE", .right), "FIELD", "VALUE", "CHECK"]
        if showsBytes { columns.append("BYTES") }
        var list = try ListWriter(context.output, columns, isCut: !arguments.flag("full"))
        for field in found.fields {
            var cells = cells(field)
            if showsBytes { cells.append(Cell(shown(field.bytes, isFull: arguments.flag("full")))) }
            try list.row(cells, json: field.json(showsBytes: showsBytes))
        }
        try list.finish()
        return found.fields.contains { $0.isRight == false } ? .no : .done
    }

    private static func cells(_ field: FrameField) -> [Cell] {
        let verdict = field.isRight.map { $0 ? Cell("right", .good) : Cell("wrong", .bad) } ?? Cell("")
        return [
            Cell(field.part.rawValue), Cell("\(field.offset)"), Cell("\(field.bytes.count)"), Cell(field.name),
            Cell(escaped(field.value)), verdict,
        ]
    }

    private static func shown(_ bytes: ArraySlice<UInt8>, isFull: Bool) -> String {
        let isCut = bytes.count > 24 && !isFull
        return Hexadecimal.text(of: isCut ? bytes.prefix(24) : bytes) + (isCut ? "…" : "")
    }
}
