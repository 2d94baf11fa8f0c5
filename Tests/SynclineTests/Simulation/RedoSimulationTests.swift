// Random histories of edits, undos and redos, with a server, restarts and compactions, against a small model of what can
// be redone and of its effect.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

private struct RedoHistory {
    typealias Rows = [String: [String: Value]]

    enum Change {
        case insert(String, [String: Value])
        case update(String, [String: Value])
        case delete(String)

        var id: String {
            switch self {
            case .insert(let id, _), .update(let id, _), .delete(let id): id
            }
        }
    }

    struct Made {
        var event: EventNumber
        var name: String
        var changes: [Change]
    }

    /// An undone transaction, and what its undo did to the rows.
    struct Undone {
        var made: Made
        var undo: EventNumber
        var effect: [Change]
    }

    var chance: Chance
    var pair: SyncPair
    var count: Int64 = 0
    /// All transactions by their events, and the undone ones, the newest last.
    var made: [EventNumber: Made] = [:]
    var undone: [Undone] = []
    /// The first event that is in the log.
    var first: EventNumber = 0
    /// The rows before the newest transaction; nil if the rows were changed by something else since.
    var before: (event: EventNumber, rows: Rows)?
    /// What happened, for a failure, and how often something was redone or refused.
    var log: [String] = []
    var redone = 0, refused = 0

    init(seed: UInt64) async throws {
        chance = Chance(seed: seed)
        let rows = (0..<3).map { Value.item("r\($0)", ["a": .integer(Int64(-1 - $0))]) }
        pair = try await SyncPair(seed % 2 == 0 ? .datasync3 : .zumo2, rows: rows)
        try await pair.pull()
    }

    func rows() async throws -> Rows {
        try await pair.table.query(RowQuery(table: "t")).rows.reduce(into: [:]) {
            $0[$1.id] = $1.columns.own.dictionary.filter { !$0.value.isNull }
        }
    }

    /// Makes changes in rows; nil if a store refuses one.
    static func apply(_ changes: [Change], to rows: Rows) -> Rows? {
        var rows = rows
        for change in changes {
            switch change {
            case .insert(let id, let columns):
                if rows[id] != nil { return nil }
                rows[id] = columns.filter { !$0.value.isNull }
            case .update(let id, let columns):
                guard var row = rows[id] else { return nil }
                for (name, value) in columns { row[name] = value.isNull ? nil : value }
                rows[id] = row
            case .delete(let id): rows[id] = nil
            }
        }
        return rows
    }

    /// The change that makes one row of another; nil if they are the same.
    static func change(_ id: String, from old: [String: Value]?, to new: [String: Value]?) -> Change? {
        switch (old, new) {
        case (nil, nil): return nil
        case (nil, let new?): return .insert(id, new)
        case (_?, nil): return .delete(id)
        case (let old?, let new?):
            let names = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
            let columns = names.reduce(into: [String: Value]()) { $0[$1] = new[$1] ?? .null }
            return columns.isEmpty ? nil : .update(id, columns)
        }
    }

    /// Changes without what they do not change.
    static func effective(_ changes: [Change], on rows: Rows) -> [Change] {
        var (rows, found): (Rows, [Change]) = (rows, [])
        for change in changes {
            var part: Change? = change
            if case .update(let id, let columns) = change {
                let row = rows[id] ?? [:]
                let changed = columns.filter { ($0.value.isNull ? nil : $0.value) != row[$0.key] }
                part = changed.isEmpty ? nil : .update(id, changed)
            }
            if let part { found.append(part) }
            rows = apply([change], to: rows) ?? rows
        }
        return found
    }

    private mutating func columns() -> [String: Value] {
        var columns: [String: Value] = [:]
        for name in ["a", "b", "c"] where chance.once(in: 2) {
            count += 1
            columns[name] = chance.once(in: 5) ? .null : .integer(chance.once(in: 4) ? 7 : count)
        }
        return columns
    }

    /// Changes that a store in a state takes, without what they do not change.
    private mutating func changes(on rows: Rows) -> [Change] {
        var (rows, changes): (Rows, [Change]) = (rows, [])
        for _ in 0...chance.below(3) {
            let id = "r\(chance.below(5))"
            var change: Change = .insert(id, columns())
            if rows[id] != nil { change = chance.once(in: 3) ? .delete(id) : .update(id, columns()) }
            changes.append(change)
            rows = RedoHistory.apply([change], to: rows) ?? rows
        }
        return changes
    }

    mutating func step() async throws {
        switch chance.below(20) {
        case 0..<6: try await edit()
        case 6..<10: try await undo()
        case 10..<15: try await redo()
        case 15: try await sync("push") { try await $0.push(.clientWins) }
        case 16: try await sync("pull") { try await $0.pull() }
        case 17:
            var columns = columns()
            if chance.once(in: 3) { columns["deleted"] = true }
            pair.server.upsert([.item("r\(chance.below(5))", columns)], in: "t")
            try await sync("server, pull") { try await $0.pull() }
        case 18:
            log.append("killed")
            try await pair.die()
        default:
            log.append("compacted")
            try await pair.database.set(retention: .events(chance.below(30)))
            first = try await pair.database.compact().firstEvent
            undone.removeAll { $0.undo < first }
            if undone.count > 0, chance.once(in: 4) {
                log.append("purged")
                try await pair.database.purge(table: "t", force: true)
                undone = []
                try await pair.pull()
            }
            before = nil
        }
    }

    private mutating func sync<Report>(_ word: String, _ body: (SyncPair) async throws -> Report) async throws {
        log.append(word)
        _ = try await body(pair)
        for conflict in try await pair.database.conflicts() {
            try await pair.database.resolve(table: "t", id: conflict.id, .takeServer)
        }
        before = nil
    }

    private mutating func edit() async throws {
        let rows = try await rows()
        let changes = RedoHistory.effective(changes(on: rows), on: rows)
        count += 1
        let name = "step \(count)"
        log.append("\(name): \(changes)")
        try await pair.database.transaction(name) { transaction in
            for change in changes {
                switch change {
                case .insert(let id, let columns): try transaction.insert("t", .item(id, columns))
                case .update(let id, let columns): try transaction.update("t", .item(id, columns))
                case .delete(let id): try transaction.delete("t", id: id)
                }
            }
        }
        if changes.isEmpty { return }
        let event = pair.database.lastEvent
        made[event] = Made(event: event, name: name, changes: changes)
        undone = []
        before = (event, rows)
        #expect(try await self.rows() == RedoHistory.apply(changes, to: rows))
    }

    private mutating func undo() async throws {
        guard try await pair.database.canUndo() else { return }
        let done = try await rows()
        let event = try await pair.database.undo()
        log.append("undid @\(event)")
        let rows = try await rows()
        let made = try #require(made[event])
        let ids = Set(made.changes.map(\.id))
        let effect = ids.compactMap { RedoHistory.change($0, from: rows[$0], to: done[$0]) }
        undone.append(Undone(made: made, undo: pair.database.lastEvent, effect: effect))
        if let before, before.event == event { #expect(rows == before.rows) }
        before = nil
    }

    private mutating func redo() async throws {
        let rows = try await rows()
        guard let next = undone.last else {
            await #expect(throws: SyncError.self) { try await pair.database.redo() }
            return
        }
        let name = next.made.name
        // The log may have only the undo.
        let changes = next.made.event < first ? next.effect : next.made.changes
        guard let expected = RedoHistory.apply(changes, to: rows) else {
            let error = await #expect(throws: SyncError.self) { try await pair.database.redo() }
            log.append("refused \(name): \(error?.code.rawValue ?? "")")
            #expect(error?.code == .rowExists || error?.code == .rowAbsent)
            #expect(try await self.rows() == rows)
            refused += 1
            return
        }
        let event = try await pair.database.redo()
        log.append("redid \(name) as @\(event)")
        #expect(try await self.rows() == expected)
        undone.removeLast()
        // A change that is nothing by now is not part of the new transaction.
        let columns = RedoHistory.effective(changes, on: rows)
        made[event] = Made(event: event, name: next.made.event < first ? "" : name, changes: columns)
        before = (event, rows)
        redone += 1
    }

    /// Compares what the store says with the model.
    func check() async throws -> Bool {
        let steps = try await pair.database.undoSteps(limit: 100)
        let canRedo = try await pair.database.canRedo()
        let names = undone.reversed().map { $0.made.event < first || $0.made.name.isEmpty ? nil : $0.made.name }
        return steps.redo.map(\.name) == names && steps.redo.map(\.event) == undone.reversed().map(\.made.event)
            && canRedo == !undone.isEmpty
    }
}

@Suite struct RedoSimulationTests {
    @Test(arguments: Seeds.some(50))
    func `what can be redone, and what a redo does, is as in a small model`(seed: UInt64) async throws {
        var history = try await RedoHistory(seed: seed)
        for step in 0..<40 {
            do {
                try await history.step()
            } catch {
                Issue.record("seed \(seed), step \(step): \(error)\n\(history.log.joined(separator: "\n"))")
                return
            }
            guard try await history.check() else {
                Issue.record("seed \(seed), step \(step):\n\(history.log.joined(separator: "\n"))")
                return
            }
        }
        _ = try StateImage.check(history.pair.disk, "seed \(seed)")
    }
}
