// Searches of real stores, with checkpoints and with removed history, compared with a check of the state after each event.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineTesting
import Testing

@testable import SynclineTool

@Suite struct BisectStoryTests {
    /// A store after some changes, checkpoints and compactions.
    private func store(at path: String, _ chance: inout Chance) async throws {
        let database = try await SyncDatabase.open(at: path)
        if chance.once(in: 2) { try await database.set(retention: .events(12)) }
        let table = database.rows(of: "t")
        try await table.insert(["id": "first", "n": 1, "text": "a"])
        for step in 0..<(20 + chance.below(40)) {
            let row: Value = [
                "id": .string("r\(chance.below(6))"), "n": .integer(Int64(chance.below(4))),
                "text": .string(chance.pick(["a", "b", "c"])),
            ]
            switch chance.below(10) {
            case 0..<3: _ = try? await table.insert(row)
            case 3..<6: _ = try? await table.update(row)
            case 6: try? await table.delete(id: "r\(chance.below(6))")
            case 7: _ = try? await database.undo()
            case 8: try await database.checkpoint()
            default: if step > 12 { try await database.compact() }
            }
        }
        try await database.close()
    }

    private func condition(_ chance: inout Chance) -> String {
        let row = "t/r\(chance.below(6))"
        let filter = chance.pick(["n eq 2", "n gt 0", "text eq 'b'", "text ne 'a'", "n lt 3 and text ge 'b'"])
        let bound = chance.pick(["eq", "ne", "gt", "ge", "lt", "le"]) + " \(chance.below(5))"
        let text = chance.pick([
            row, "\(row): \(filter)", "\(row).n eq \(chance.below(4))", "t: \(filter)", "count(t) \(bound)",
            "count(t: \(filter)) \(bound)", "pending \(bound)", "conflicts \(bound)",
        ])
        if chance.once(in: 6) { return chance.pick(["pending", "conflicts", "count(t)", "count(t: \(filter))"]) }
        return chance.once(in: 4) ? "not " + text : text
    }

    @Test(arguments: Seeds.some(8)) func `a search finds the event that a check of every state finds`(seed: UInt64)
        async throws
    {
        var chance = Chance(seed: seed &* 7919 &+ 3)
        let folder = try TemporaryFolder()
        let path = folder.path + "/store"
        try await store(at: path, &chance)
        let storage = POSIXStorage(directory: path)
        let (loader, last) = (StateLoader(storage), try EventWalk(storage).last)
        let start = try loader.earliest().through
        let states = try (start...last).map { try loader.load(through: $0).present }
        for _ in 0..<25 {
            let text = condition(&chance)
            let condition = try Condition(parsing: text)
            if condition.constant != nil { continue }
            let what: Comment = "seed \(seed): \(text) in \(start + 1)...\(last)"
            let numbers = try states.map { try condition.count(in: $0) }
            let truth = numbers.map { condition.holds($0) }
            let made = zip(numbers, numbers.dropFirst()).enumerated().first { _, pair in
                condition.isOnChanges ? pair.0 != pair.1 : !condition.holds(pair.0) && condition.holds(pair.1)
            }
            let event = made.map { start + UInt64($0.offset) + 1 }
            if let row = condition.focus {
                if try states.allSatisfy({ try $0.entry(row.table, row.id) == nil }) {
                    #expect(throws: ToolError.self, what) {
                        try Bisection(storage, condition, from: nil, through: .max).run()
                    }
                    continue
                }
            }
            let found = try Bisection(storage, condition, from: nil, through: .max).run()
            #expect(found.event == event && found.heldBefore == truth[0], what)
            if let made { #expect(found.counts == made.element, what) }
            #expect(found.searched == start + 1...(event ?? last), what)
            let answer = await Call.tool("replay", "--bisect", text, "--json", "-s", path)
            #expect(answer.exit == (event == nil ? .no : .done), what)
            #expect(try answer.object()["searched"] as? String == found.range, what)
        }
    }
}
