// Differences between lists are right, and as small as they can be, in lists of any length.

import LogTesting
import Testing

@testable import SynclineCore

@Suite struct ListDifferenceTests {
    private static func row(_ number: Int, _ value: Int64 = 0) -> StoredRow {
        StoredRow(id: "\(number)", columns: Row([.init("n", .integer(value))]))
    }

    /// Returns the difference between two lists, and checks that it leads from one to the other.
    private func difference(_ old: [StoredRow], _ new: [StoredRow]) -> ListDifference<StoredRow> {
        let difference = ListDifference(from: old, to: new)
        var rows = old
        difference.apply(to: &rows)
        #expect(rows == new)
        return difference
    }

    @Test(arguments: [10, 2000, 5000]) func `a row that moves is removed and inserted, and nothing else`(_ count: Int) {
        let old = (0..<count).map { Self.row($0) }
        for (start, end) in [(3, count - 3), (count - 3, 3), (0, count - 1), (count - 1, 0)] {
            var new = old
            new.insert(new.remove(at: start), at: end)
            let change = difference(old, new)
            #expect(change.removed == [start])
            #expect(change.inserted == [.init(index: end, row: old[start])])
            #expect(change.updated.isEmpty)
        }
    }

    @Test func `few changes all over a long list are few`() {
        let old = (0..<6000).map { Self.row($0) }
        var new = old
        new[5000] = Self.row(5000, 1)
        new.remove(at: 4000)
        new.insert(Self.row(9000), at: 3000)
        new.remove(at: 20)
        let change = difference(old, new)
        #expect(change.removed == [4000, 20])
        #expect(change.inserted == [.init(index: 2999, row: Self.row(9000))])
        #expect(change.updated == [.init(index: 4999, row: Self.row(5000, 1))])
    }

    @Test func `equal lists do not differ, and lists without a common row are replaced`() {
        let old = (0..<3000).map { Self.row($0) }
        #expect(difference(old, old).isEmpty)
        let change = difference(old, (3000..<6000).map { Self.row($0) })
        #expect(change.removed.count == 3000 && change.inserted.count == 3000)
        #expect(difference([], []).isEmpty)
        #expect(difference([], old).inserted.count == 3000)
        #expect(difference(old, []).removed == Array((0..<3000).reversed()))
    }

    @Test(arguments: UInt64(1)...50) func `no difference is smaller`(_ seed: UInt64) {
        var chance = Chance(seed: seed)
        let old = (0..<chance.below(12)).map { Self.row($0) }
        var new = old.filter { _ in !chance.once(in: 4) }
        for _ in 0..<chance.below(5) where !new.isEmpty {
            new.insert(new.remove(at: chance.below(new.count)), at: chance.below(new.count + 1))
        }
        for number in 0..<chance.below(4) {
            new.insert(Self.row(100 + number), at: chance.below(new.count + 1))
        }
        let change = difference(old, new)
        let smallest = new.map(\.id).difference(from: old.map(\.id))
        #expect(change.removed.count == smallest.removals.count)
        #expect(change.inserted.count == smallest.insertions.count)
    }
}
