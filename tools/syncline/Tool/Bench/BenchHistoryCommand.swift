// `bench history`: creates a store with a long history, to measure the inspector. Benchmarks/history.py measures it.

import SegmentLog
import Syncline
import SynclineGround

enum BenchHistoryCommand {
    /// The number of events after which a store in use writes a checkpoint.
    private static let session = 40_000

    static let command = Command(
        "bench history", "create a store with many events",
        details: [
            """
            Each change of a row is sent and answered before the next, except for the last hundred. A checkpoint is \
            written every 40,000 events.
            """
        ],
        operands: [
            Operand("DIR", "the directory, which must be empty or missing", isRequired: true, takesDirectory: true)
        ],
        options: [
            Option("events", value: "N", "number of events (default: 1000000)"),
            Option("rows", value: "N", "number of rows (default: 100000)"),
        ],
        examples: [Example("syncline bench history big", "a million events")],
        result: #"{"store","events":n,"rows":n,"seconds"}"#
    ) { arguments, context in
        let path = arguments.operands[0]
        let events = Int(try arguments.number("events", in: 100...100_000_000) ?? 1_000_000)
        let rows = Int(try arguments.number("rows", in: 1...10_000_000) ?? 100_000)
        let begin = SystemSource.instant()
        let storage = POSIXStorage(directory: path)
        var workload = HistoryWorkload(rows: rows)
        var made = 0
        while made < events {
            let session = min(events, made + BenchHistoryCommand.session)
            let writer = try LogWriter.open(storage, creating: made == 0 ? .always : .never)
            while made < session {
                var batch = RecordBatch()
                for _ in 0..<min(1000, session - made) {
                    made += 1
                    batch.append(workload.next(settles: made < events - 100).bytes)
                }
                try writer.append(batch, durability: .buffered)
            }
            try writer.close()
            var configuration = SyncConfiguration()
            configuration.creation = .never
            let database = try await SyncDatabase.open(storage, configuration)
            try await database.checkpoint()
            try await database.close()
        }
        let seconds = (SystemSource.instant() - begin) / .seconds(1)
        return try context.output.result(
            [
                "store": .string(path), "events": .number(events), "rows": .number(rows),
                "seconds": .number(seconds, places: 2),
            ], "\(escaped(path)): \(counted(UInt64(events), "event")) in \(decimal(seconds, places: 1)) s")
    }
}

/// The events of a store in use, the same every time.
struct HistoryWorkload {
    private let rows: Int
    private var number: UInt64 = 0
    private var change = 0
    /// The last change, and its progress.
    private var open: (id: String, event: UInt64, row: Row, isSent: Bool)?

    init(rows: Int) {
        self.rows = rows
    }

    mutating func next(settles: Bool) -> Event {
        number += 1
        let time = 1_700_000_000_000 + Int64(number) * 1000
        if let current = open, settles || current.isSent {
            let position = Position(event: current.event)
            if !current.isSent {
                open?.isSent = true
                return Event(
                    time: time,
                    .sent([
                        SentOperation(
                            table: "todoitem", id: current.id, operationID: "op-\(current.event)", position: position,
                            through: position)
                    ]))
            }
            open = nil
            let row = Row([.init("version", .string("v\(number)"))]).merged(with: current.row)
            return Event(
                time: time,
                .answered(
                    Answer(
                        table: "todoitem", id: current.id, operationID: "op-\(current.event)", status: 200,
                        outcome: .done(PulledRow(id: current.id, row: row)))))
        }
        // Rows in a pseudorandom order.
        let id = "item-\(change * 7919 % rows)"
        let kind: OperationKind = change < rows ? .insert : .update
        let row = Row([
            .init("text", .string("buy \(change % 977) litres of milk")), .init("n", .integer(Int64(change))),
            .init("done", .bool(change % 3 == 0)),
        ])
        change += 1
        open = (id, number, row, false)
        return Event(
            time: time,
            .local(
                LocalTransaction(
                    [LocalChange(kind: kind, table: "todoitem", id: id, columns: row)], isGrouped: false)))
    }
}
