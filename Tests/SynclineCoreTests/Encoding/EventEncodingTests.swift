// Events in bytes: each kind round-trips; truncated or damaged ones are rejected with an error.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct EventEncodingTests {
    private static func decoded(_ bytes: [UInt8]) throws(SyncError) -> Event {
        try bytes.withBytes { bytes throws(SyncError) in try Event(bytes) }
    }

    @Test(arguments: EventKind.allCases)
    func `random events come back with the same bytes`(_ kind: EventKind) throws {
        for seed in UInt64(1)...1500 {
            var chance = Chance(seed: seed)
            let event = chance.event(kind)
            let decoded = try Self.decoded(event.bytes)
            try #require(decoded == event, "seed \(seed)")
            try #require(decoded.bytes == event.bytes, "seed \(seed)")
            try #require(event.kind == kind)
        }
    }

    @Test(arguments: EventKind.allCases)
    func `cut and damaged events are refused or read as other events`(_ kind: EventKind) throws {
        for seed in UInt64(1)...300 {
            var chance = Chance(seed: seed)
            let bytes = chance.event(kind).bytes
            for end in 0..<min(bytes.count, 200) { attempt(Array(bytes[..<end])) }
            for _ in 0..<30 {
                var damaged = bytes
                for _ in 0...chance.below(3) {
                    damaged[chance.below(bytes.count)] = UInt8(truncatingIfNeeded: chance.next())
                }
                attempt(damaged)
                attempt(damaged + [0])
            }
        }
    }

    @Test func `a cursor of changes has no mark but that of an audit`() throws {
        for (mark, isDue) in [
            (Value.null, false), (.string("audit"), true), (.string("an id"), nil), (.bool(true), nil),
        ] {
            var writer = ByteWriter()
            for text in ["c5", "a query"] { writer.append(text: text) }
            writer.append(value: mark)
            writer.append(zigzag: 0)
            let cursor = writer.bytes.withBytes { bytes in
                var reader = ByteReader(bytes)
                return try? reader.cursor()
            }
            #expect(cursor?.isAuditDue == isDue, "\(mark)")
        }
    }

    /// What can be decoded can be encoded.
    private func attempt(_ bytes: [UInt8]) {
        guard let event = try? Self.decoded(bytes) else { return }
        #expect(!event.bytes.isEmpty)
    }

    @Test func `an event of an unknown kind was written by a newer version`() {
        #expect(throws: SyncError.newer("an event of kind 99")) { try Self.decoded([99, 0]) }
        #expect(throws: SyncError.malformed("an event of 0 bytes")) { try Self.decoded([]) }
        #expect(throws: SyncError.malformed("an event of 2 bytes")) { try Self.decoded([0, 0]) }
    }

    @Test func `a row with damaged values is refused`() throws {
        let row = Row([.init("a", .string("text"))])
        let event = Event(
            time: 0, .page(PulledPage(table: "t", queryID: nil, rows: [.init(id: "x", row: row)], cursor: nil)))
        var bytes = event.bytes
        let place = try #require(bytes.firstIndex(of: 0x84))
        bytes[place] = 0x85
        #expect(throws: SyncError.self) { try Self.decoded(bytes) }
    }

    @Test func `a declaration has the bytes that the page of events shows`() {
        let event = Event(
            time: 0,
            .declared(
                Declaration(version: 2, isStrict: false, tables: [TableSchema("t", localColumns: ["open"])]),
                steps: [.renameColumn(table: "t", from: "text", to: "title")]))
        let name = { (text: String) in [0, UInt8(text.utf8.count)] + Array(text.utf8) }
        let parts: [[UInt8]] = [
            [12, 0, 2, 0, 1], name("t"), [1], name("open"), [0], [1, 1], name("text"), name("title"),
        ]
        #expect(event.bytes == parts.flatMap { $0 })
    }

    @Test func `names that are spelled in different bytes stay apart`() throws {
        let changes = ["caf\u{e9}", "cafe\u{301}", "caf\u{e9}", "other"].map {
            LocalChange(kind: .delete, table: $0, id: "1")
        }
        let event = Event(time: 5, .local(LocalTransaction(changes, isGrouped: true)))
        guard case .local(let transaction) = try Self.decoded(event.bytes).body else {
            throw SyncError.malformed("it")
        }
        #expect(transaction.changes.map { Array($0.table.utf8) } == changes.map { Array($0.table.utf8) })
    }
}

extension Chance {
    private mutating func transaction() -> LocalTransaction {
        let name = once(in: 3) ? text() : nil
        let changes = (0..<below(6)).map { _ in change() }
        let isGrouped = name != nil || once(in: 2)
        let heading = TransactionHeading(isGrouped: isGrouped, name: name)
        return LocalTransaction(changes, once(in: 4) ? TransactionHeading(redoing: next(), name: name) : heading)
    }

    mutating func event(_ kind: EventKind) -> Event {
        let body: Event.Body =
            switch kind {
            case .opened:
                .opened(
                    Opening(
                        device: text(), engineVersion: text(), projectorVersion: UInt32(truncatingIfNeeded: next()),
                        schemaVersion: UInt32(below(9)), place: once(in: 2) ? nil : text()))
            case .configured: .configured(name: text(), value: once(in: 3) ? nil : value())
            case .local:
                .local(transaction())
            case .undone: .undone(event: next())
            case .page:
                .page(
                    PulledPage(
                        table: text(), queryID: once(in: 2) ? nil : text(),
                        rows: (0..<below(6)).map { _ in PulledRow(id: text(), row: once(in: 4) ? nil : row()) },
                        cursor: once(in: 2) ? nil : cursor(), isAudit: once(in: 4)))
            case .purged:
                .purged(
                    Purge(
                        table: text(), ids: once(in: 3) ? nil : (0..<below(4)).map { _ in text() },
                        isForced: once(in: 2)))
            case .indexed:
                .indexed(
                    IndexChange(
                        table: text(), columns: (0...below(3)).map { _ in text() },
                        including: (0..<below(3)).map { _ in text() }, isOn: once(in: 2)))
            case .typed:
                .typed(
                    TypeDeclaration(
                        table: text(),
                        columns: (0..<below(4)).map { _ in TypedColumn(text(), pick(ColumnType.allCases)) },
                        isLocal: once(in: 2)))
            case .cursorReset: .cursorReset(table: text(), queryID: text())
            case .sent: .sent((0..<below(4)).map { _ in sentOperation() })
            case .answered: .answered(answer())
            case .resolved:
                .resolved(
                    Resolution(
                        table: text(), id: text(), choice: pick(Resolution.Choice.allCases),
                        change: once(in: 2) ? nil : .init(kind: pick(OperationKind.allCases), columns: row()),
                        policy: once(in: 2) ? nil : text()))
            case .discarded: .discarded(table: text(), id: text())
            case .serverWorked: .serverWorked
            case .declared: .declared(declaration(), steps: (0..<below(4)).map { _ in step() })
            case .carried: .carried(through: UInt64(below(1 << 30)), (0..<below(4)).map { _ in carriedRow() })
            }
        return Event(time: integer(), body)
    }

    private mutating func declaration() -> Declaration {
        Declaration(
            version: UInt32(truncatingIfNeeded: next()), isStrict: once(in: 2),
            tables: (0..<below(4)).map { _ in
                TableSchema(
                    text(),
                    columns: (0..<below(3)).map { _ in
                        ColumnSchema(
                            text(), onServer: once(in: 2) ? nil : text(),
                            default: once(in: 2) ? nil : row().members.first?.value)
                    }, localColumns: (0..<below(3)).map { _ in text() })
            })
    }

    private mutating func step() -> SchemaStep {
        switch below(4) {
        case 0: return .dropTable(text())
        case 1:
            let values = row().members.map { ValueChange($0.value, .string(text())) }
            return .changeValues(table: text(), column: text(), values)
        case 2: return .dropColumn(table: text(), column: text())
        default: return .renameColumn(table: text(), from: text(), to: text())
        }
    }

    private mutating func carriedRow() -> CarriedRow {
        let changes = (0..<1 + below(3)).map { _ -> CarriedRow.Change in
            var change = CarriedRow.Change(position: position(), kind: pick(OperationKind.allCases), columns: row())
            change.replaces = once(in: 2)
            change.cancels = once(in: 2)
            change.revives = once(in: 2)
            change.isGrouped = once(in: 2)
            change.isResolution = once(in: 2)
            return change
        }
        guard once(in: 2) else { return CarriedRow(table: text(), id: text(), changes: changes) }
        var frozen = FrozenOperation(
            kind: pick(OperationKind.allCases), status: pick([.inFlight, .conflict, .parked]), maybeSent: once(in: 2),
            position: position(), through: position(), operationID: text(), columns: row(),
            ancestor: once(in: 2) ? nil : row())
        frozen.server = once(in: 2) ? nil : row()
        frozen.httpStatus = once(in: 2) ? nil : 200 + below(300)
        frozen.code = once(in: 2) ? nil : text()
        frozen.message = once(in: 2) ? nil : text()
        frozen.revival = once(in: 2) ? nil : Revival(tombstone: once(in: 2) ? nil : row())
        frozen.isDecided = once(in: 2)
        frozen.mayHaveBeenDone = once(in: 2)
        frozen.serverWorks = once(in: 2)
        frozen.failures = below(4)
        return CarriedRow(table: text(), id: text(), changes: changes, frozen: frozen)
    }

    private mutating func position() -> Position { Position(event: next(), index: UInt32(below(9))) }

    private mutating func sentOperation() -> SentOperation {
        SentOperation(
            table: text(), id: text(), operationID: once(in: 3) ? nil : text(),
            position: Position(event: next(), index: UInt32(below(9))),
            through: Position(event: next(), index: UInt32(below(9))))
    }

    private mutating func answer() -> Answer {
        let outcomes: [Answer.Outcome] = [
            .done(PulledRow(id: text(), row: once(in: 2) ? nil : row())),
            .conflict(server: once(in: 2) ? nil : row(), code: text()), .parked, .notReceived, .failing, .interrupted,
            .tombstone(once(in: 2) ? nil : row()), .revived(PulledRow(id: text(), row: row())),
        ]
        var answer = Answer(
            table: text(), id: text(), operationID: text(), status: below(1000), outcome: pick(outcomes),
            message: once(in: 2) ? nil : text())
        if answer.outcome.goesOn { answer.nextOperationID = text() }
        if case .conflict = answer.outcome { answer.mayHaveBeenDone = once(in: 2) }
        return answer
    }

    mutating func change() -> LocalChange {
        let kind = pick(OperationKind.allCases)
        return LocalChange(
            kind: kind, table: pick(["a", "b", text()]), id: text(), columns: kind == .delete ? .empty : row(),
            baseVersion: once(in: 2) ? nil : value(), replaces: once(in: 4), cancels: once(in: 4))
    }
}
