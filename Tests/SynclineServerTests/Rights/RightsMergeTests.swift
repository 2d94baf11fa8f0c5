// The order in which rows and departures from several sources are told: nothing is told before its source is complete, and
// nothing twice.

import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct RightsMergeTests {
    private func candidate(_ place: Int64, _ id: String) -> RightsCandidate { RightsCandidate(place: place, id: id) }

    private func text(_ candidate: RightsCandidate) -> String { "\(candidate.place)\(candidate.id)" }

    @Test func `several sources are complete up to the first end of one that was cut`() {
        var all = RightsCandidates(limit: 3)
        all.add([candidate(1, "b"), candidate(4, "a"), candidate(9, "a")], isCut: true)
        all.add([candidate(2, "a"), candidate(5, "c")], isCut: true)
        all.add([candidate(5, "b"), candidate(5, "d")], isCut: false)
        #expect(all.complete.map(text) == ["1b", "2a", "4a", "5b", "5c"])
        #expect(all.bound.map(text) == "5c" && all.rest == 0)
        #expect(all.isFull(before: 6) && !all.isFull(before: 4))
        // A page of three is full before the fifth place.
        #expect(all.isFull(before: 5) && all.complete.map(text) == ["1b", "2a", "4a"])
    }

    @Test func `a source that is not cut has no bound`() {
        var all = RightsCandidates(limit: 10)
        all.add([], isCut: true)
        all.add([candidate(2, "a")], isCut: false)
        all.add([candidate(1, "a")], isCut: false)
        #expect(all.complete.map(text) == ["1a", "2a"] && all.bound == nil && all.rest == 8)
    }

    @Test func `rows that arrive are told among those that were collected, and each once`() {
        let collected = [candidate(1, "a"), candidate(3, "b"), candidate(7, "a"), candidate(9, "a")]
        var merge = RightsMerge(collected[...], bound: nil)
        var told: [String] = []
        func tell(_ place: Int64, _ id: String, _: RowRight, _: TableRow?) -> Bool {
            told.append("\(place)\(id)")
            return true
        }
        for candidate in [candidate(2, "x"), candidate(3, "b"), candidate(3, "c"), candidate(7, "b")] {
            let isWanted = merge.tell(candidate, tell)
            #expect(isWanted)
        }
        // More may follow the last one that arrived.
        let isWanted = merge.finish(after: candidate(7, "b"), tell)
        #expect(isWanted)
        #expect(told == ["1a", "2x", "3b", "3c", "7a", "7b"])
        #expect(merge.bound.map(text) == "7b")
    }

    @Test func `nothing is told after a bound, or once no more is wanted`() {
        var merge = RightsMerge([candidate(1, "a"), candidate(2, "a")], bound: candidate(2, "b"))
        var told: [String] = []
        let isWanted = merge.tell(candidate(2, "c")) { place, id, _, _ in
            told.append("\(place)\(id)")
            return true
        }
        #expect(isWanted)
        #expect(told == ["1a", "2a"])
        merge = RightsMerge([candidate(1, "a"), candidate(2, "a")], bound: nil)
        let goesOn = merge.finish(after: nil) { _, _, _, _ in false }
        #expect(!goesOn)
    }

    @Test func `the parts of a scan grow with the rows that were the caller's, up to a page`() {
        var scan = RowScan()
        #expect(scan.part(of: 1000, isFinite: false).limit == nil)
        var limits: [Int?] = []
        for _ in 0..<4 {
            var part = scan.part(of: 1000 - scan.own, isFinite: true)
            limits.append(part.limit)
            while !part.ends(scan.ends(after: true)) {}
        }
        let some = RowScan.some
        #expect(limits == [4 * some, 1000 - 3 * some, 5 * some, 5 * some])
        var part = scan.part(of: 10, isFinite: true)
        #expect(part.limit == 10 + some && part.ends(true) && !part.ends(false))
    }

    @Test func `a caller whose rows were most of a table is asked for a page at once, until they are not`() {
        let known = KnownCallers()
        func limit(_ table: String, _ subject: String) -> Int? {
            known.begin(table, subject).part(of: 500, isFinite: true).limit
        }
        var scan = known.begin("a", "ann")
        for _ in 0...RowScan.some { _ = scan.ends(after: true) }
        known.end(scan, "a", "ann")
        #expect(limit("a", "ann") == 500)
        for _ in 0..<3 { _ = scan.ends(after: false) }
        known.end(scan, "a", "ann")
        #expect(limit("a", "ann") == 503)
        #expect(limit("a", "bob") == 4 * RowScan.some && limit("b", "ann") == 4 * RowScan.some)
        for _ in 0..<(3 * RowScan.some) { _ = scan.ends(after: false) }
        known.end(scan, "a", "ann")
        #expect(limit("a", "ann") == 4 * RowScan.some)
    }

    @Test func `a scan ends once it has read too many rows of others, for good`() {
        var scan = RowScan()
        let own = (0..<3).map { _ in scan.ends(after: true) }
        let others = (0..<(3 + RowScan.some)).map { _ in scan.ends(after: false) }
        #expect(!own.contains(true) && !others.contains(true) && scan.isWorthIt)
        let ends = scan.ends(after: false)
        let goesOn = (0..<3).map { _ in scan.ends(after: true) }
        #expect(ends && !goesOn.contains(false) && !scan.isWorthIt)
    }
}
