// Histories from seeds, made the way an engine makes them: local changes through the writer, undo, pages, purges,
// resets, and what a push records (RandomHistory+Push.swift), folded as they are recorded.

import LogTesting
import Testing

@testable import SynclineCore

struct RandomHistory {
    var chance: Chance
    let projector: Projector
    /// The records of the log.
    private(set) var records: [[UInt8]] = []
    /// What a push that began some time ago will send.
    var planned: [PlannedOperation] = []

    init(seed: UInt64) throws {
        chance = Chance(seed: seed)
        projector = try Projector()
        if seed % 2 == 0 { try record(.configured(name: SettingName.ids, value: .string("ignore-case"))) }
    }

    var next: UInt64 { UInt64(records.count) + 1 }
    var reader: StateReader { StateReader(projector.store.snapshot, projector.shapes) }

    mutating func step() throws {
        switch chance.below(18) {
        case 17 where chance.once(in: 3): try carry()
        case 0, 15: try undo()
        case 1, 2, 3: try record(.page(page()))
        case 4 where chance.once(in: 3): try record(.purged(purge()))
        case 5 where chance.once(in: 2): try record(.cursorReset(table: table(), queryID: "q\(chance.below(2))"))
        case 6 where chance.once(in: 3):
            try record(.configured(name: "s\(chance.below(3))", value: chance.once(in: 2) ? nil : chance.value()))
        case 7: try index()
        case 14 where chance.once(in: 2): try declare()
        case 8, 9: try send()
        case 10, 11: try answer()
        case 12: try resolve()
        case 13: planned = try PushPlan(reader).operations
        default: try local()
        }
        projector.store.endCommit()
    }

    mutating func record(_ body: Event.Body) throws {
        let event = Event(time: Int64(records.count), body)
        try projector.apply(event, number: next)
        records.append(event.bytes)
    }

    private mutating func index() throws {
        let names = ["a", "b", "c", "caf\u{e9}"]
        let count = 1 + chance.below(2)
        let start = chance.below(names.count)
        let columns = (0..<count).map { names[(start + $0) % names.count] }
        let including = chance.once(in: 3) ? [names[(start + count) % names.count]] : []
        try record(
            .indexed(
                IndexChange(
                    table: table(), columns: columns, including: including, isOn: !chance.once(in: 3))))
        let types = [ColumnType.integer, .date, .string, .decimal, .uuid]
        try record(
            .typed(TypeDeclaration(table: table(), columns: [TypedColumn(chance.pick(names), chance.pick(types))])))
    }

    /// A schema that declares some tables, and steps of a migration. Strictness does not affect the fold.
    private mutating func declare() throws {
        let columns = ["a", "b", "c"]
        var steps: [SchemaStep] = []
        for _ in 0..<chance.below(3) {
            let from = chance.pick(columns)
            switch chance.below(7) {
            case 0: steps.append(.dropTable(table()))
            case 1:
                let changes = (0..<4).map { ValueChange(.integer($0), .string("was \($0)")) }
                steps.append(.changeValues(table: table(), column: from, changes))
            case 2...3: steps.append(.dropColumn(table: table(), column: from))
            default:
                let to = chance.pick(columns.filter { $0 != from })
                steps.append(.renameColumn(table: table(), from: from, to: to))
            }
        }
        let tables = ["a", "b", "caf\u{e9}"].filter { _ in chance.once(in: 2) }.map { name in
            let declared = ["c", "d", "e"].filter { _ in chance.once(in: 3) }.map { column in
                ColumnSchema(column, default: chance.once(in: 2) ? nil : .integer(Int64(chance.below(9))))
            }
            return TableSchema(name, columns: declared, localColumns: columns.filter { _ in chance.once(in: 3) })
        }
        try record(
            .declared(Declaration(version: UInt32(next), isStrict: false, tables: tables), steps: steps))
    }

    /// What a compaction writes before it removes history.
    private mutating func carry() throws {
        let last = next - min(next, UInt64(chance.below(5)))
        try record(.carried(through: last, reader.carriedRows(through: last)))
    }

    private mutating func undo() throws {
        guard let event = try UndoSearch.newest(reader, through: projector.through) else { return }
        try record(.undone(event: event))
    }

    /// A transaction; if a change in it is refused, it leaves no trace.
    private mutating func local() throws {
        let contents = try projector.store.snapshot.contents()
        let before = (projector.store.digest, projector.state.mark)
        projector.store.beginChanges()
        defer { projector.store.endChanges() }
        let isGrouped = chance.once(in: 2)
        let name = isGrouped && chance.once(in: 3) ? "step \(next)" : nil
        var heading = TransactionHeading(isGrouped: isGrouped, name: name)
        if isGrouped, let last = try reader.undone.first {
            heading = TransactionHeading(redoing: last.undo, name: name)
        }
        var writer = LocalTransactionWriter(projector, number: next, time: 7, heading)
        do throws(SyncError) {
            for _ in 0..<(isGrouped ? 1 + chance.below(4) : 1) {
                try writer.change(chance.pick(OperationKind.allCases), table(), id(), columns())
            }
            if let record = try writer.finish() { records.append(record) }
        } catch {
            try projector.store.takeBack(to: 0)
            projector.state.takeBack(to: before.1)
            try #require(projector.store.digest == before.0)
            try #require(try projector.store.snapshot.contents() == contents)
        }
    }

    private mutating func table() -> String { chance.pick(["a", "b", "caf\u{e9}", "cafe\u{301}"]) }

    private mutating func id() -> String {
        chance.pick([
            "1", "2", "x", "X", "y", "\u{e9}", "7f3a0b1c-0000-4000-8000-00000000ffff",
            "7F3A0B1C-0000-4000-8000-00000000FFFF",
        ])
    }

    mutating func columns() -> Row {
        Row((0..<chance.below(4)).map { _ in .init(chance.pick(["a", "b", "c"]), chance.value(depth: 2)) })
    }

    private mutating func page() -> PulledPage {
        let rows = (0..<chance.below(5)).map { _ -> PulledRow in
            if chance.once(in: 4) {
                let isByRight = chance.once(in: 2)
                return PulledRow(id: id(), row: nil, hasLeft: isByRight, isByRight: isByRight)
            }
            let version = Row([.init("version", .string("v\(chance.below(6))"))])
            return PulledRow(id: id(), row: chance.once(in: 8) ? columns() : version.merged(with: columns()))
        }
        let cursor = chance.once(in: 3) ? nil : chance.cursor()
        var page = PulledPage(table: table(), queryID: "q\(chance.below(2))", rows: rows, cursor: cursor)
        if chance.once(in: 3) { page.unreadable = (0..<chance.below(3)).map { _ in unreadable(page.table) } }
        if chance.once(in: 4) { page.vanished = (0..<chance.below(3)).map { _ in UInt64(chance.below(4)) } }
        return page
    }

    private mutating func unreadable(_ table: String) -> UnreadableRow {
        UnreadableRow(
            table: table, id: chance.once(in: 4) ? nil : id(), place: 1 + chance.below(50),
            reason: "reason \(chance.below(2))", digest: UInt64(chance.below(4)))
    }

    private mutating func purge() -> Purge {
        Purge(table: table(), ids: chance.once(in: 2) ? nil : [id(), id()], isForced: true)
    }
}

extension Projector {
    /// Folds some of a log's records.
    func fold(_ records: ArraySlice<[UInt8]>, afterEach: (Projector) throws -> Void = { _ in }) throws {
        for (index, record) in zip(records.indices, records) {
            try record.withUnsafeBytes { try apply($0, number: UInt64(index) + 1) }
            store.endCommit()
            try afterEach(self)
        }
    }

    /// Whether another projector has the same state, to the byte.
    func agrees(with other: Projector) throws -> Bool {
        try through == other.through && totals == other.totals && state.ids == other.state.ids
            && declaration == other.declaration
            && store.digest == other.store.digest && shapes.all == other.shapes.all
            && store.snapshot.contents() == other.store.snapshot.contents()
    }
}
