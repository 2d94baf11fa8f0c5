// Every sequence of up to five steps on two rows: the fold and the plan agree with the contract, and undoing
// everything leaves no trace.

import SynclineGround
import Testing

@testable import SynclineCore

/// Two rows in two tables, and their model.
private final class CompactorWalk {
    static let tables = ["t", "u"]
    let projector: Projector
    private(set) var count = 0
    private var bare: [[UInt64]: [[UInt8]: [UInt8]]] = [:]

    init() throws {
        projector = try CompactorWalk.newProjector()
        projector.store.beginChanges()
    }

    /// Shapes are numbered before anything happens, so that numbers do not depend on what is undone.
    private static func newProjector() throws -> Projector {
        let projector = try Projector()
        let names = ["a", "b", "c"]
        for shape in [[], ["version"] + names] { _ = projector.state.number(of: RowShape(shape)) }
        for first in names {
            _ = projector.state.number(of: RowShape([first]))
            for second in names where second != first {
                _ = projector.state.number(of: RowShape([first, second]))
                for third in names where third != first && third != second {
                    _ = projector.state.number(of: RowShape([first, second, third]))
                }
            }
        }
        return projector
    }

    func walk(_ steps: [(CompactorStep, Int)], _ model: CompactorModel, depth: Int, first: [(CompactorStep, Int)])
        throws
    {
        guard steps.count < depth else { return }
        for (step, row) in steps.count < first.count ? [first[steps.count]] : CompactorWalk.all {
            let mark = (projector.store.changeCount, projector.state.mark)
            var model = model
            let steps = steps + [(step, row)]
            try take(step, row, &model, steps)
            try check(model, steps)
            try undoAll(model, steps)
            count += 1
            try walk(steps, model, depth: depth, first: first)
            try projector.store.takeBack(to: mark.0)
            projector.state.takeBack(to: mark.1)
        }
    }

    static let all = CompactorStep.allCases.flatMap { step in [(step, 0), (step, 1)] }

    private func take(
        _ step: CompactorStep, _ row: Int, _ model: inout CompactorModel, _ steps: [(CompactorStep, Int)]
    ) throws {
        let event = UInt64(steps.count)
        let table = CompactorWalk.tables[row]
        let refusal = model.apply(step, row: row, event: event)
        var found: String?
        var writer = LocalTransactionWriter(projector, number: event, time: 0, TransactionHeading(isGrouped: false))
        do throws(SyncError) {
            switch step {
            case .insert:
                let columns = [Value.Member("a", .integer(Int64(event))), .init("b", .integer(0))]
                try writer.change(.insert, table, "r", Row(columns.prefix(event % 2 == 0 ? 1 : 2)))
            case .update:
                try writer.change(.update, table, "r", Row([.init(event % 2 == 0 ? "a" : "b", .integer(Int64(event)))]))
            case .delete: try writer.change(.delete, table, "r")
            case .freeze: try projector.freezeForTest(table, "r")
            case .page: try projector.pageForTest(table, event)
            }
            _ = try writer.finish()
        } catch {
            found = error.code.rawValue
        }
        try #require(found == refusal?.rawValue, "\(steps)")
    }

    private func check(_ model: CompactorModel, _ steps: [(CompactorStep, Int)]) throws {
        let reader = StateReader(projector.store.snapshot, projector.shapes)
        let plan = try PushPlan(reader).operations.map {
            CompactorModel.Operation(
                row: $0.table == "t" ? 0 : 1, kind: $0.kind, state: $0.state, position: $0.position.event)
        }
        try #require(plan == model.plan(), "\(steps)")
        for row in 0..<2 {
            let found = try reader.row(CompactorWalk.tables[row], "r")
            try #require(found?.numbers == model.visible(row), "\(steps), row \(row)")
            var scanned: [StoredRow] = []
            try reader.forEachRow(of: CompactorWalk.tables[row], form: 3) { sight throws(SyncError) in
                scanned.append(StoredRow(id: sight.id, columns: try sight.row))
                return true
            }
            try #require(scanned == [found].compactMap { $0 }, "\(steps), row \(row)")
        }
    }

    /// Undoes all that can be undone. If that was everything, the state is that of a store that only pulled, but for what
    /// can be redone.
    private func undoAll(_ model: CompactorModel, _ steps: [(CompactorStep, Int)]) throws {
        let mark = (projector.store.changeCount, projector.state.mark)
        var model = model
        while true {
            let reader = StateReader(projector.store.snapshot, projector.shapes)
            let found = try UndoSearch.newest(reader, through: 10)
            try #require(found == model.undo(), "\(steps)")
            guard let found else { break }
            try projector.apply(Event(time: 0, .undone(event: found)), number: 11)
            try check(model, steps)
        }
        let pages = steps.indices.filter { steps[$0].0 == .page }.flatMap { [UInt64($0 + 1), UInt64(steps[$0].1)] }
        if model.plan().isEmpty {
            try projector.state.endRedo()
            let contents = try projector.store.snapshot.contents()
            let expected = try bareContents(pages)
            try #require(contents == expected, "\(steps)")
            var digest = Digest()
            for (key, value) in contents { key.withBytes { key in value.withBytes { digest.add(key, $0) } } }
            try #require(projector.store.digest == digest, "\(steps)")
            try #require(projector.totals.pending == 0, "\(steps)")
        }
        try projector.store.takeBack(to: mark.0)
        projector.state.takeBack(to: mark.1)
    }

    private func bareContents(_ pages: [UInt64]) throws -> [[UInt8]: [UInt8]] {
        if let known = bare[pages] { return known }
        let projector = try CompactorWalk.newProjector()
        for index in stride(from: 0, to: pages.count, by: 2) {
            try projector.pageForTest(CompactorWalk.tables[Int(pages[index + 1])], pages[index])
        }
        let contents = try projector.store.snapshot.contents()
        bare[pages] = contents
        return contents
    }
}

extension Projector {
    /// The row's pending operation is sent.
    fileprivate func freezeForTest(_ table: String, _ id: String) throws(SyncError) {
        let pending = try state.entry(state.rowKey(table, id)).entry?.pending
        guard let pending, pending.frozen == nil, pending.operation != nil else { return }
        let plan = try PushPlan(StateReader(store.snapshot, shapes)).operations
        guard let position = plan.first(where: { $0.table == table })?.position else { return }
        try PushFold(state: state).apply(
            SentOperation(table: table, id: id, operationID: "o", position: position, through: pending.last))
    }

    /// A row comes from the server with one new column each time.
    fileprivate func pageForTest(_ table: String, _ event: UInt64) throws(SyncError) {
        let row = Row([
            .init("version", .string("v\(event)")), .init("a", .integer(100)), .init("b", .integer(100)),
            .init("c", .integer(1000 + Int64(event))),
        ])
        let page = PulledPage(table: table, queryID: nil, rows: [PulledRow(id: "r", row: row)], cursor: nil)
        try apply(Event(time: 0, .page(page)), number: event)
    }
}

extension StoredRow {
    fileprivate var numbers: [String: Int] {
        var numbers: [String: Int] = [:]
        for member in columns.members {
            if case .integer(let number) = member.value { numbers[member.name] = Int(number) }
        }
        return numbers
    }
}

@Suite struct CompactorTests {
    #if DEBUG
        static let depth = 4
    #else
        static let depth = 5
    #endif

    @Test(arguments: 0..<CompactorWalk.all.count)
    func `every short sequence of changes collapses as the contract says`(_ first: Int) throws {
        var count = 0
        for second in CompactorWalk.all {
            let walk = try CompactorWalk()
            try walk.walk([], CompactorModel(), depth: Self.depth, first: [CompactorWalk.all[first], second])
            count += walk.count
        }
        #expect(count > 1000)
    }
}
