// The fold gives the same bytes wherever it begins and however the state is kept, and its balance holds.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct FoldTests {
    #if DEBUG
        static let seeds = UInt64(1)...40
    #else
        static let seeds = UInt64(1)...250
    #endif

    private static func history(_ seed: UInt64, steps: Int = 80) throws -> RandomHistory {
        var history = try RandomHistory(seed: seed)
        for _ in 0..<steps { try history.step() }
        return history
    }

    @Test func `a log folds to the state it was written from`() throws {
        for seed in Self.seeds {
            let history = try Self.history(seed)
            let folded = try Projector()
            try folded.fold(history.records[...])
            try #require(try folded.agrees(with: history.projector), "seed \(seed)")
            let again = try Projector()
            try again.fold(history.records[...])
            try #require(try again.agrees(with: folded), "seed \(seed)")
        }
    }

    @Test func `an update has the same place in a push, alone and in the plan of all operations`() throws {
        var moved = 0
        for seed in Self.seeds {
            var history = try RandomHistory(seed: seed)
            for _ in 0..<80 {
                try history.step()
                let reader = history.reader
                let plan = try PushPlan(reader)
                try #require(
                    zip(plan.operations, plan.operations.dropFirst()).allSatisfy { $0.position <= $1.position })
                let waiting = Set(plan.operations.filter { !$0.state.isSent }.map(\.rowKey))
                try #require(plan.toPush == plan.operations.filter { !waiting.contains($0.rowKey) })
                for planned in plan.operations where !planned.isFrozen {
                    let pending = try #require(try reader.entry(key: planned.rowKey)?.pending)
                    let operation = try #require(pending.operation)
                    #expect(try reader.place(of: operation, in: pending, planned.rowKey) == planned.position)
                    if planned.position != operation.first { moved += 1 }
                }
            }
        }
        #expect(moved > 0)
    }

    @Test func `an insert that was cancelled does not move an update, although its row was inserted again`() throws {
        let projector = try Projector()
        let page = PulledPage(
            table: "t", queryID: "q", rows: [PulledRow(id: "x", row: Row([.init("a", .integer(0))]))], cursor: nil)
        try projector.apply(Event(time: 0, .page(page)), number: projector.through + 1)
        projector.store.endCommit()
        let transactions: [[(OperationKind, String)]] = [
            [(.update, "x")], [(.insert, "y")], [(.update, "x")], [(.delete, "y"), (.insert, "y")],
        ]
        for (index, changes) in transactions.enumerated() {
            var writer = LocalTransactionWriter(
                projector, number: projector.through + 1, time: 7, TransactionHeading(isGrouped: true))
            for (kind, id) in changes {
                let columns = kind == .delete ? Row([]) : Row([.init("a", .integer(Int64(index + 1)))])
                try writer.change(kind, "t", id, columns)
            }
            _ = try writer.finish()
            projector.store.endCommit()
        }
        let reader = StateReader(projector.store.snapshot, projector.shapes)
        let update = try #require(try PushPlan(reader).operations.first { $0.id == "x" })
        let pending = try #require(try reader.entry(key: update.rowKey)?.pending)
        let operation = try #require(pending.operation)
        #expect(update.position == operation.first)
        #expect(try reader.place(of: operation, in: pending, update.rowKey) == operation.first)
    }

    @Test func `an undo of two changes of a row restores the insert before them, although a server has the row now`()
        throws
    {
        let projector = try Projector()
        func commit(_ changes: [(OperationKind, String, Row)]) throws {
            var writer = LocalTransactionWriter(
                projector, number: projector.through + 1, time: 7, TransactionHeading(isGrouped: true))
            for (kind, id, columns) in changes { try writer.change(kind, "t", id, columns) }
            _ = try writer.finish()
            projector.store.endCommit()
        }
        let columns = Row([.init("a", .integer(1))])
        try commit([(.insert, "x", columns)])
        try commit([(.delete, "x", Row([])), (.insert, "y", columns), (.update, "x", Row([.init("a", .integer(2))]))])
        let server = Row([.init("version", .string("v1")), .init("b", .integer(3))])
        let page = PulledPage(table: "t", queryID: "q", rows: [PulledRow(id: "x", row: server)], cursor: nil)
        try projector.apply(Event(time: 0, .page(page)), number: projector.through + 1)
        projector.store.endCommit()
        func reader() -> StateReader { StateReader(projector.store.snapshot, projector.shapes) }
        let event = try #require(try UndoSearch.newest(reader(), through: projector.through))
        #expect(event == 2)
        try projector.apply(Event(time: 0, .undone(event: event)), number: projector.through + 1)
        projector.store.endCommit()
        #expect(try reader().row("t", "y") == nil)
        #expect(try reader().row("t", "x")?.columns["a"] == .integer(1))
        #expect(try PushPlan(reader()).operations.map(\.id) == ["x"])
    }

    @Test func `a checkpoint and the tail fold to the same bytes at every cut`() throws {
        for seed in Self.seeds {
            let history = try Self.history(seed, steps: 50)
            var chance = Chance(seed: seed)
            let blocks = MemoryBlocks()
            var projector = try Projector()
            for cut in history.records.indices {
                try projector.fold(history.records[cut...cut])
                if projector.store.layers.isFullSet {
                    try projector.store.mergeFull(
                        into: blocks, merging: chance.below(projector.store.layers.runs.count + 1))
                } else if chance.once(in: 3) {
                    projector.store.rotate()
                }
                guard chance.once(in: 4) else { continue }
                if projector.store.layers.isFullSet { try projector.store.mergeFull(into: blocks) }
                projector.store.rotate()
                try projector.store.mergeFull(
                    into: blocks, merging: chance.below(projector.store.layers.runs.count + 1))
                projector = try Projector(
                    store: StateStore(
                        layers: StateLayers(runs: projector.store.layers.runs), digest: projector.store.digest),
                    through: projector.through, totals: projector.totals)
            }
            try #require(try projector.agrees(with: history.projector), "seed \(seed)")
        }
    }

    @Test func `the balance of changes is the number of changes in the outbox`() throws {
        for seed in Self.seeds {
            let history = try Self.history(seed)
            let projector = try Projector()
            try projector.fold(history.records[...]) { projector in
                var journal: UInt64 = 0
                try StateReader(projector.store.snapshot, projector.shapes).forEachChange { _, _ in
                    journal += 1
                    return true
                }
                let totals = projector.totals
                try #require(totals.pending == journal, "seed \(seed), event \(projector.through)")
                try #require(totals.pending <= totals.made, "seed \(seed)")
            }
        }
    }

    @Test func `a row's entry is the result of its changes, one after the other`() throws {
        for seed in Self.seeds {
            let history = try Self.history(seed)
            let projector = history.projector
            let reader = history.reader
            for table in try reader.tables() {
                try reader.forEachEntry(of: table) { id, entry throws(SyncError) in
                    guard let pending = entry.pending else { return }
                    var made = PendingRow(
                        first: pending.first, last: pending.last, count: pending.count, isPresent: entry.base != nil)
                    for link in try projector.state.chain(of: pending) {
                        made.append(link.change, link.columns, at: link.position)
                        #expect(link.change.isFrozen == (link.position <= pending.frozen?.through ?? .init(event: 0)))
                        if link.position == pending.frozen?.through {
                            made.frozen = pending.frozen
                            made.operation = nil
                        }
                    }
                    #expect(made == pending, "seed \(seed), \(table)/\(id)")
                }
            }
        }
    }

    @Test func `columns that are local are in no base and in nothing that is to be sent`() throws {
        for seed in Self.seeds {
            let history = try Self.history(seed)
            for table in try history.reader.tables() {
                let names = history.projector.state.localColumns(of: table) ?? []
                try history.reader.forEachEntry(of: table) { id, entry in
                    let sets = [entry.base, entry.pending?.overlay].compactMap { $0?.columns.exact }
                    #expect(sets.allSatisfy { $0.isDisjoint(with: names) }, "seed \(seed), \(table)/\(id)")
                    var settled = entry
                    settled.fill(
                        history.projector.declaration?.defaults(of: table) ?? .empty, localColumns: names)
                    #expect(settled == entry, "seed \(seed), \(table)/\(id): the rest are defaults of columns it lacks")
                }
            }
        }
    }

    @Test func `rows and the outbox name each other`() throws {
        for seed in Self.seeds {
            let history = try Self.history(seed)
            let reader = StateReader(history.projector.store.snapshot, history.projector.shapes)
            var changes: [[UInt8]: [Position]] = [:]
            try reader.forEachChange { position, change in
                #expect(change.previous == changes[change.rowKey]?.last, "seed \(seed)")
                changes[change.rowKey, default: []].append(position)
                return true
            }
            for table in try reader.tables() {
                try reader.forEachEntry(of: table) { id, entry in
                    let own = changes.removeValue(forKey: history.projector.state.rowKey(table, id)) ?? []
                    #expect(own.first == entry.pending?.first && own.last == entry.pending?.last, "seed \(seed)")
                    #expect(own.count == entry.pending?.count ?? 0, "seed \(seed)")
                }
            }
            #expect(changes.isEmpty, "seed \(seed)")
        }
    }

    @Test func `a declaration that is taken back leaves no type and no local table`() throws {
        let projector = try Projector()
        let (contents, mark) = (try projector.store.snapshot.contents(), projector.state.mark)
        projector.store.beginChanges()
        let declaration = TypeDeclaration(table: "t", columns: [TypedColumn("n", .date)], isLocal: true)
        try projector.apply(Event(time: 0, .typed(declaration)), number: 1)
        #expect(projector.state.types.isLocal("t"))
        try projector.store.takeBack(to: 0)
        projector.state.takeBack(to: mark)
        projector.store.endChanges()
        #expect(projector.state.types == TypeCatalog())
        #expect(try projector.store.snapshot.contents() == contents)
    }
}
