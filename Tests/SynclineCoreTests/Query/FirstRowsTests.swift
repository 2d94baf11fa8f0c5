// The first rows of an order are the first of all rows when sorted, in whatever order they arrive.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct FirstRowsTests {
    @Test func `the first rows are kept, whatever the limit and the order of arrival`() throws {
        for seed in UInt64(1)...60 {
            var chance = Chance(seed: seed)
            let numbers = (0..<chance.below(500)).map { _ in chance.below(200) }
            let arrival = seed % 3 == 0 ? numbers.sorted() : seed % 3 == 1 ? numbers.sorted(by: >) : numbers
            let limit = chance.pick([0, 1, 2, 10, 100, 1000, .max])
            let skip = chance.below(4)
            let isDescending = chance.once(in: 2)
            var first = FirstRows(SortOrder([.init("n", descending: isDescending)], TableTypes()), limit: limit)
            for (index, number) in arrival.enumerated() {
                let id = String(1000 + index)
                let row = Row([.init("n", .integer(Int64(number)))])
                try Array(id.utf8).withBytes { id throws(SyncError) in
                    try row.withView { view throws(SyncError) in
                        let sight = EncodedRowView(id: id, row: view)
                        try withUnsafePointer(to: sight) { place throws(SyncError) in
                            _ = try first.offer(
                                VisitedRow(place: place, key: id, value: ValueView(view.bytes), form: 3))
                        }
                    }
                }
            }
            let found = first.finish(skipping: skip).map(\.id)
            let expected = arrival.enumerated()
                .sorted { left, right in
                    left.element == right.element
                        ? left.offset < right.offset : (left.element < right.element) != isDescending
                }
                .map { String(1000 + $0.offset) }.prefix(limit).dropFirst(skip)
            #expect(found == Array(expected), "seed \(seed)")
        }
    }
}
