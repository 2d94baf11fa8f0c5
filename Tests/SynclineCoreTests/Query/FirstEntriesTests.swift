// The first entries of an index are those of the first rows, in either direction and after any place.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct FirstEntriesTests {
    private struct Entry: Hashable, Comparable {
        let sortKey: UInt8
        let id: [UInt8]

        static func < (left: Entry, right: Entry) -> Bool {
            left.sortKey == right.sortKey
                ? left.id.lexicographicallyPrecedes(right.id) : left.sortKey < right.sortKey
        }
    }

    @Test func `the first entries are found, or it is told that they can't be`() throws {
        var outcomes: Set<String> = []
        for seed in UInt64(1)...400 {
            var chance = Chance(seed: seed)
            let forms = chance.once(in: 3) ? 2 : 1
            let entries = Set(
                (0..<chance.below(40)).map { _ in
                    Entry(
                        sortKey: UInt8(chance.below(5)),
                        id: [UInt8(chance.below(forms)), UInt8(chance.below(9)), UInt8(chance.below(9))])
                }
            ).sorted()
            let limit = chance.pick([0, 1, 2, 5, 20, 100])
            let isBackward = chance.once(in: 2)
            let after = chance.once(in: 2) ? entries.randomElement(using: &chance) : nil
            let haveOneForm = Set(entries.map { $0.id[0] }).count < 2
            var first = FirstEntries(
                RowKeys(prefix: [7]), limit: limit, isBackward: isBackward, after: after.map { ([$0.sortKey], $0.id) })
            var step = FirstEntries.Step.more
            let offered = entries.filter { entry in
                after.map { isBackward ? entry.sortKey <= $0.sortKey : entry.sortKey >= $0.sortKey } ?? true
            }
            for entry in isBackward ? offered.reversed() : offered where step == .more {
                step = try [entry.sortKey].withBytes { sortKeys throws(SyncError) in
                    try entry.id.withBytes { id throws(SyncError) in
                        try first.offer(sortKeys: sortKeys, id: id) { haveOneForm }
                    }
                }
            }
            // One key counts backward, ids never do.
            func position(_ entry: Entry) -> Entry {
                Entry(sortKey: isBackward ? ~entry.sortKey : entry.sortKey, id: entry.id)
            }
            let wanted = entries.map(position).sorted().filter { entry in after.map { position($0) < entry } ?? true }
            if step == .unsure {
                outcomes.insert("unsure")
                #expect(!haveOneForm, "seed \(seed)")
                continue
            }
            outcomes.insert(step == .done ? "done" : "all")
            let keys = first.finish()
            #expect(
                (0..<keys.count).map { [UInt8](keys[$0]) } == wanted.prefix(limit).map { [7] + $0.id }, "seed \(seed)")
        }
        #expect(outcomes == ["unsure", "done", "all"])
    }
}
