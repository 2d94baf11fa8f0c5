// The history tools on random histories: what they report about a log must be what folding it shows.

import LogTesting
import Testing

@testable import SynclineCore

@Suite struct HistoryTests {
    private static let seeds = (0..<40).map { UInt64($0) }

    private func history(_ seed: UInt64, steps: Int = 120) throws -> RandomHistory {
        var history = try RandomHistory(seed: seed)
        for _ in 0..<steps { try history.step() }
        return history
    }

    /// All rows that a history ever touched.
    private func rows(of history: RandomHistory) throws -> Set<RowKey> {
        var rows: Set<RowKey> = []
        let projector = try Projector()
        for (index, record) in history.records.enumerated() {
            projector.store.beginChanges()
            try record.withUnsafeBytes { try projector.apply($0, number: UInt64(index) + 1) }
            for change in try StateChanges(projector).rows { rows.insert(try RowKey(malformed: change.key)) }
        }
        return rows
    }

    @Test(arguments: seeds)
    func `a row's share of a log folds to the same row`(seed: UInt64) throws {
        let history = try history(seed)
        for row in try rows(of: history) {
            var blame = try Blame(table: row.table, id: row.id, from: Projector())
            for (index, record) in history.records.enumerated() {
                try record.withUnsafeBytes { _ = try blame.fold($0, number: UInt64(index) + 1) }
            }
            let whole = try history.reader.entry(row.table, row.id)
            var part = try blame.entry
            // An operation's position in the order depends on other rows, and so does what a decision leaves of it.
            if let place = whole?.pending?.frozen?.position { part?.pending?.frozen?.position = place }
            if let place = whole?.pending, place.count == part?.pending?.count {
                part?.pending?.first = place.first
                part?.pending?.last = place.last
                if let first = place.operation?.first { part?.pending?.operation?.first = first }
            }
            #expect(part == whole, "\(row)")
            #expect(blame.fields?.count == whole?.visible?.columns.count, "\(row)")
            for origin in blame.fields ?? [] { #expect(origin.value == whole?.visible?[origin.field]) }
        }
    }

    @Test(arguments: seeds)
    func `every change is accounted for, and the fold counted the same`(seed: UInt64) throws {
        let history = try history(seed, steps: 300)
        var accounting = try Accounting(from: Projector())
        var told: [ChangeFate] = []
        for (index, record) in history.records.enumerated() {
            try record.withUnsafeBytes {
                try accounting.fold($0, number: UInt64(index) + 1) { change in
                    told.append(change)
                    #expect(change.fate != .unconfirmed && change.event == UInt64(index) + 1)
                }
            }
        }
        let result = try accounting.finish { told.append($0) }
        #expect(result.isBalanced, "\(result.differences)")
        #expect(result.sums[.unconfirmed] + result.void == history.projector.totals.pending)
        // Each change is listed once, where the app made it.
        #expect(UInt64(told.count) == result.sums.made)
        #expect(Set(told.map(\.position)).count == told.count)
        for change in told {
            let event = try history.records[Int(change.position.event) - 1].withUnsafeBytes { try Event($0) }
            switch event.body {
            case .local(let transaction):
                let made = transaction.changes[Int(change.position.index)]
                #expect(made.id.lowercased() == change.id.lowercased() && made.table == change.table, "\(change)")
            case .resolved(let resolution):
                #expect(resolution.id.lowercased() == change.id.lowercased(), "\(change)")
            default: Issue.record("\(change) was made by an event of kind \(event.cause)")
            }
        }
        // The order is the same each time.
        var again = try Accounting(from: Projector())
        var second: [ChangeFate] = []
        for (index, record) in history.records.enumerated() {
            try record.withUnsafeBytes { try again.fold($0, number: UInt64(index) + 1) { second.append($0) } }
        }
        _ = try again.finish { second.append($0) }
        #expect(second == told)
    }

    @Test func `an insert and its delete before any push are superseded by the delete`() throws {
        var accounting = try Accounting(from: Projector())
        var told: [ChangeFate] = []
        for (index, kind) in [OperationKind.insert, .update, .delete].enumerated() {
            let columns = kind == .update ? Row([.init("n", .integer(1))]) : .empty
            let change = LocalChange(
                kind: kind, table: "t", id: "a", columns: columns, cancels: kind == .delete)
            let event = Event(time: 0, .local(LocalTransaction([change], isGrouped: false)))
            try event.bytes.withUnsafeBytes { try accounting.fold($0, number: UInt64(index) + 1) { told.append($0) } }
        }
        let result = try accounting.finish { told.append($0) }
        #expect(told.map(\.fate) == [.superseded, .superseded, .superseded] && told.map(\.event) == [3, 3, 3])
        #expect(result.isBalanced && result.sums[.unconfirmed] == 0 && result.sums[.superseded] == 3)
    }

    @Test(arguments: seeds)
    func `folded changes can be undone step by step`(seed: UInt64) throws {
        let history = try history(seed)
        var replay = Replay(from: try Projector())
        var digests = [replay.projector.store.digest]
        for (index, record) in history.records.enumerated() {
            let event = try record.withUnsafeBytes { try Event($0) }
            let step = try replay.step(event, number: UInt64(index) + 1)
            #expect(step.outcome == .folded)
            digests.append(replay.projector.store.digest)
            try check(outboxOf: replay.projector)
        }
        #expect(try replay.projector.agrees(with: history.projector))
        for count in (0..<history.records.count).reversed() {
            #expect(try replay.back())
            #expect(replay.through == UInt64(count))
            #expect(replay.projector.store.digest == digests[count])
            try check(outboxOf: replay.projector)
        }
        #expect(try !replay.back())
    }

    /// The facts say where the outbox begins and ends; without them, all of the state is searched.
    private func check(outboxOf projector: Projector) throws {
        let known = projector.reader(of: projector.store.snapshot)
        let unknown = StateReader(known.snapshot, known.shapes)
        func positions(_ reader: StateReader, from event: UInt64 = 0) throws -> [Position] {
            var all: [Position] = []
            try reader.forEachChange(from: event) { position, _ in
                all.append(position)
                return true
            }
            return all
        }
        let all = try positions(unknown)
        #expect(try positions(known) == all && known.undone == unknown.undone)
        if let event = all.last?.event { #expect(try positions(known, from: event) == positions(unknown, from: event)) }
    }

    @Test(arguments: seeds)
    func `a state that is settled into memory is the same state`(seed: UInt64) throws {
        let history = try history(seed)
        let projector = try Projector()
        try projector.fold(history.records[...]) { projector in
            if projector.through % 7 == 0 { try projector.store.settle(above: 0) }
        }
        #expect(try projector.agrees(with: history.projector))
    }

    @Test(arguments: seeds)
    func `a condition counts event by event what it counts in the state`(seed: UInt64) throws {
        let history = try history(seed)
        let conditions = try [
            "a: a ge 0", "count(b) ge 2", "pending gt 3", "conflicts ge 1", "not a/x", "b/1: a ne null", "count(a)",
        ]
        .map { try Condition(parsing: $0) }
        for condition in conditions {
            let projector = try Projector()
            var search = try ReplaySearch(condition, from: Projector())
            for (index, record) in history.records.enumerated() {
                let holds = try record.withUnsafeBytes { bytes in
                    try projector.apply(bytes, number: UInt64(index) + 1)
                    return try search.fold(bytes, number: UInt64(index) + 1)
                }
                let reader = projector.reader(of: projector.store.snapshot)
                let count = try condition.count(in: reader)
                #expect(
                    holds == condition.holds(count) && search.value == count, "\(condition.subject) at @\(index + 1)")
            }
        }
    }

    @Test(arguments: seeds)
    func `a log without some of its events folds without failing`(seed: UInt64) throws {
        let history = try history(seed)
        var chance = Chance(seed: seed)
        var variation = ReplayVariation()
        for number in 1...history.records.count where chance.once(in: 5) { variation.without.insert(UInt64(number)) }
        variation.policy = chance.pick([nil, .clientWins, .serverWins, .merge])
        var replay = Replay(from: try Projector(), variation)
        for (index, record) in history.records.enumerated() {
            let event = try record.withUnsafeBytes { try Event($0) }
            let step = try replay.step(event, number: UInt64(index) + 1)
            if variation.without.contains(step.number) {
                #expect(step.outcome == .leftOut && step.changes.rows.isEmpty && step.changes.journal.isEmpty)
            }
            // The policy's decisions come before the event.
            if case .impossible = step.outcome { #expect(step.changes.rows.isEmpty || !step.decisions.isEmpty) }
        }
        #expect(replay.through == UInt64(history.records.count))
    }
}
