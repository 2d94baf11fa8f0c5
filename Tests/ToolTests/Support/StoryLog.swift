// A store with a short, deterministic history: pulled rows, changes, an undo, a push with a conflict that a policy
// decided, and one that waits.

import Foundation
import SegmentLog

@testable import SynclineCore

enum Story {
    private static func row(_ members: KeyValuePairs<String, Value>) -> Row {
        Row(members.map { .init($0.key, $0.value) })
    }

    private static func server(_ version: String, _ members: KeyValuePairs<String, Value>) -> Row {
        let date = Timestamp("2026-05-19T21:30:00.000Z").map { Value.date($0) } ?? .null
        return row(["version": .string(version), "updatedAt": date]).merged(with: row(members))
    }

    private static func change(_ kind: OperationKind, _ id: String, _ columns: Row = .empty) -> LocalChange {
        LocalChange(kind: kind, table: "todoitem", id: id, columns: columns)
    }

    private static func local(_ kind: OperationKind, _ id: String, _ columns: Row = .empty) -> Event.Body {
        .local(LocalTransaction([change(kind, id, columns)], isGrouped: false))
    }

    private static func page(_ rows: [PulledRow]) -> Event.Body {
        .page(
            PulledPage(
                table: "todoitem", queryID: "all", rows: rows,
                cursor: CursorState(
                    .time(Timestamp(.init(milliseconds: 1_779_226_200_000))), query: "", updated: 1_700_000_000_000)))
    }

    private static func sent(_ id: String, _ operation: String, _ position: Position, _ through: Position) -> Event.Body
    {
        .sent([
            SentOperation(table: "todoitem", id: id, operationID: operation, position: position, through: through)
        ])
    }

    private static func answered(
        _ id: String, _ operation: String, _ status: Int, _ outcome: Answer.Outcome, _ message: String? = nil
    ) -> Event.Body {
        .answered(
            Answer(
                table: "todoitem", id: id, operationID: operation, status: status, outcome: outcome, message: message))
    }

    private static func at(_ event: UInt64, _ index: UInt32 = 0) -> Position { Position(event: event, index: index) }

    static let events: [Event.Body] = [
        .opened(Opening(device: "", engineVersion: "0.1.0", projectorVersion: 5, schemaVersion: 0)),
        .configured(name: "device", value: .string("D")),
        .configured(name: "protocol", value: .string("zumo2")),
        page([
            PulledRow(id: "a", row: server("1", ["text": .string("milk"), "n": .integer(1)])),
            PulledRow(id: "b", row: server("1", ["text": .string("bread"), "n": .integer(2)])),
        ]),
        .local(
            LocalTransaction(
                [
                    change(.insert, "c", row(["text": .string("salt"), "n": .integer(3)])),
                    change(.update, "a", row(["text": .string("oat milk")])),
                ], isGrouped: true)),
        local(.update, "a", row(["n": .integer(7)])),
        local(.delete, "b"),
        .undone(event: 7),
        sent("c", "O1", at(5), at(5)),
        answered(
            "c", "O1", 201, .done(PulledRow(id: "c", row: server("1", ["text": .string("salt"), "n": .integer(3)])))),
        sent("a", "O2", at(5, 1), at(6)),
        answered(
            "a", "O2", 412,
            .conflict(server: server("2", ["text": .string("soy milk"), "n": .integer(1)]), code: "conflict"),
            "the row was changed"),
        .resolved(
            Resolution(
                table: "todoitem", id: "a", choice: .keepMine,
                change: .init(kind: .update, columns: row(["text": .string("oat milk"), "n": .integer(7)])),
                policy: "client-wins")),
        sent("a", "O3", at(5, 1), at(5, 1)),
        answered(
            "a", "O3", 200,
            .done(PulledRow(id: "a", row: server("3", ["text": .string("oat milk"), "n": .integer(7)])))),
        local(.update, "b", row(["text": .string("rye\u{1b}[31m")])),
        page([PulledRow(id: "b", row: server("2", ["text": .string("wheat"), "n": .integer(2)]))]),
        local(.insert, "d", row(["text": .string("eggs")])),
        local(.update, "d", row(["text": .string("six eggs")])),
        .indexed(IndexChange(table: "todoitem", columns: ["n"], isOn: true)),
    ]
}

extension TestLog {
    /// A log that holds the story, in two segments; the given number of hours later, or with other events at some places.
    static func story(hours: Int64 = 0, replacing: (Int) -> Event.Body? = { _ in nil }) throws -> TestLog {
        let log = try TestLog(empty: ())
        try log.tell(Story.events.enumerated().map { replacing($0) ?? $1 }, hours: hours)
        return log
    }

    /// Writes events, one a minute, the eleventh in another segment.
    func tell(_ events: [Event.Body], hours: Int64 = 0) throws {
        let writer = try open()
        for (index, body) in events.enumerated() {
            if index == 10 { try writer.roll() }
            var batch = RecordBatch()
            let time = 1_700_000_000_000 + hours * 3_600_000 + Int64(index) * 60_000
            batch.append(Event(time: time, body).bytes)
            try writer.append(batch)
        }
        try writer.close()
    }
}
