// Which part of an index a statement reads, and whether that has the wanted order.

import SynclineCore
import Testing

@testable import SynclineSQL

@Suite struct IndexPlanTests {
    /// Columns 1 and 2 and 3 of a table, with an index on all of them, whose entries also have column 4.
    private func facts(_ content: [IndexContent] = [.string, .number, .date], keeps: Bool = false) -> ScanFacts {
        let index = IndexFacts(columns: [1, 2, 3], content: content, kept: keeps ? 0b11111 : 0)
        return ScanFacts(count: 10_000, indexes: [index], hasOneIDForm: true)
    }

    private func equal(_ column: Int) -> PlanRequest.Condition { .init(column: column, comparison: .equal) }
    private func more(_ column: Int) -> PlanRequest.Condition { .init(column: column, comparison: .greater) }
    private func less(_ column: Int) -> PlanRequest.Condition { .init(column: column, comparison: .less) }

    private func part(
        _ equal: Int, _ ends: IndexChoice.Ends = .none, isOrdered: Bool = false, isBackward: Bool = false,
        isCovering: Bool = false, hasLimit: Bool = false, hasOthers: Bool = false
    ) -> ScanPlan.Access {
        var choice = IndexChoice()
        for _ in 0..<equal { _ = choice.add(.value) }
        if ends != .none { _ = choice.add(.range(ends)) }
        choice.isCovering = isCovering
        if isOrdered { choice.setOrder(isBackward: isBackward, hasLimit: hasLimit, hasOthers: hasOthers) }
        return .index(IndexPart(index: 0, columns: [1, 2, 3], choice: choice))
    }

    @Test func `the first columns equal a value, and the next one is in a range`() {
        for (conditions, access, used) in [
            ([equal(1)], part(1), [0]), ([equal(2), equal(1)], part(2), [1, 0]),
            ([more(2), equal(1)], part(1, .lower), [1, 0]), ([less(2), equal(1)], part(1, .upper), [1, 0]),
            ([less(2), equal(1), more(2)], part(1, .both), [1, 2, 0]), ([more(1)], part(0, .lower), [0]),
            ([less(1), less(3)], part(0, .upper), [0]), ([equal(3), equal(1)], part(1), [1]),
        ] as [([PlanRequest.Condition], ScanPlan.Access, [Int])] {
            let plan = facts().plan(PlanRequest(conditions: conditions))
            #expect(plan.access == access && plan.used == used && !plan.isOrdered, "\(conditions)")
        }
        #expect(facts().plan(PlanRequest(conditions: [more(2)])).access == .all)
    }

    @Test func `each value and each end of a range leaves fewer rows`() {
        let conditions = [
            [], [more(1)], [equal(1)], [equal(1), more(2)], [equal(1), equal(2)], [equal(1), equal(2), less(3)],
        ]
        let rows = conditions.map { facts().plan(PlanRequest(conditions: $0)).rows }
        #expect(rows == rows.sorted(by: >) && Set(rows).count == rows.count)
    }

    @Test func `the columns after those that equal a value give the order, in one direction`() {
        func check(_ order: [PlanRequest.Key], _ access: ScanPlan.Access) {
            let plan = facts().plan(PlanRequest(conditions: [equal(1)], order: order))
            #expect(plan.access == access, "\(order)")
        }
        func up(_ column: Int) -> PlanRequest.Key { .init(column: column) }
        func down(_ column: Int) -> PlanRequest.Key { .init(column: column, isDescending: true) }
        let forward = part(1, isOrdered: true)
        for order in [
            [up(2)], [up(2), up(3)], [up(1), up(2)], [up(2), down(1), up(3)], [up(2), up(3), up(0)], [up(1)],
        ] {
            check(order, forward)
        }
        for order in [[down(2)], [down(2), down(3)], [down(2), down(3), down(0)]] {
            check(order, part(1, isOrdered: true, isBackward: true))
        }
        for order in [[up(2), down(3)], [up(3)], [up(2), up(0)], [up(2), up(4)]] { check(order, part(1)) }
        let ranged = facts().plan(PlanRequest(conditions: [equal(1), more(2)], order: [.init(column: 2)]))
        #expect(ranged.access == part(1, .lower, isOrdered: true) && ranged.isOrdered)
    }

    @Test func `ids of several forms are not in order within an index`() {
        var facts = facts()
        let request = PlanRequest(
            conditions: [equal(1), equal(2)], order: [.init(column: 3), .init(column: 0)], hasLimit: true)
        #expect(facts.plan(request).isOrdered)
        facts.hasOneIDForm = false
        #expect(!facts.plan(request).isOrdered)
        (facts.hasOneIDForm, facts.sortsIDs) = (true, false)
        #expect(!facts.plan(request).isOrdered)
        // The index is also sorted by columns that follow one that no row has.
        facts.sortsIDs = true
        facts.indexes[0].sortsIDs = false
        #expect(!facts.plan(request).isOrdered)
    }

    @Test(
        arguments: [
            // What a column that equals a value may have.
            ([.number, .string], .number, true), ([.bool], .number, true), ([.date], .number, true),
            ([.string, .cut], .number, true), ([.bool, .number], .number, false), ([.date, .string], .number, false),
            ([.date, .fineDate], .number, false), ([.string, .numericString], .number, false),
            ([.bytes], .number, false),
            ([.structure], .number, false), (.unknown, .number, false),
            // What a column that gives the order may have.
            (.string, [.number, .string, .numericString, .bytes], true), (.string, [.bool, .string], true),
            (.string, [.date, .fineDate], true), (.string, [.bool, .number], false),
            (.string, [.date, .string], false),
            (.string, [.string, .cut], false), (.string, .structure, false), (.string, .unknown, false),
        ] as [(IndexContent, IndexContent, Bool)])
    func `an index has SQL's order if its values have`(first: IndexContent, second: IndexContent, isOrdered: Bool) {
        let request = PlanRequest(conditions: [equal(1)], order: [.init(column: 2)])
        #expect(facts([first, second, .number]).plan(request).isOrdered == isOrdered)
    }

    @Test func `dates with parts of a millisecond give no order to what is sorted within them`() {
        let content: [IndexContent] = [.string, [.date, .fineDate], .number]
        func isOrdered(_ order: [PlanRequest.Key]) -> Bool {
            facts(content).plan(PlanRequest(conditions: [equal(1)], order: order)).isOrdered
        }
        #expect(isOrdered([.init(column: 2)]))
        #expect(!isOrdered([.init(column: 2), .init(column: 3)]))
    }

    @Test func `without a value, an order is read from an index for the first rows only`() {
        var request = PlanRequest(conditions: [nil], order: [.init(column: 1, isDescending: true)], hasLimit: true)
        #expect(facts().plan(request).access == part(0, isOrdered: true, isBackward: true, hasLimit: true))
        request.conditions = [less(1), nil]
        #expect(facts().plan(request).access == part(0, .upper, isOrdered: true, isBackward: true, hasLimit: true))
        let cost = facts().plan(request).cost
        // Few of the rows may satisfy another condition. The order is still cheaper than to sort all rows.
        request.conditions.append(less(3))
        #expect(
            facts().plan(request).access
                == part(0, .upper, isOrdered: true, isBackward: true, hasLimit: true, hasOthers: true))
        #expect(facts().plan(request).cost > cost)
        request.conditions = []
        request.hasOthers = true
        #expect(
            facts().plan(request).access
                == part(0, isOrdered: true, isBackward: true, hasLimit: true, hasOthers: true))
        request.hasOthers = false
        request.hasLimit = false
        #expect(facts().plan(request).access == .all)
        // Rows with one value are read in their order, even if another condition excludes some.
        request.conditions = [equal(1), less(4)]
        request.order = [.init(column: 2)]
        #expect(facts().plan(request).access == part(1, isOrdered: true))
    }

    @Test func `entries that have all columns are read without their rows`() {
        var request = PlanRequest(conditions: [equal(1)], read: 0b10010)
        #expect(facts().plan(request).access == part(1))
        #expect(facts(keeps: true).plan(request).access == part(1, isCovering: true))
        request.conditions = []
        #expect(facts(keeps: true).plan(request).access == part(0, isCovering: true))
        request.order = [.init(column: 1), .init(column: 2)]
        #expect(facts(keeps: true).plan(request).access == part(0, isOrdered: true, isCovering: true))
        request.read = 0b110010
        #expect(facts(keeps: true).plan(request).access == .all)
        request.read = 1 << 63
        #expect(facts(keeps: true).plan(request).access == .all)
        // Rows have the spelling of their ids.
        request.read = 0b10010
        var facts = facts(keeps: true)
        facts.sortsIDs = false
        #expect(facts.plan(request).access == .all)
    }

    @Test func `an index is read to know its content only if that can give the order`() {
        var facts = facts([[.string, .cut, .numericString], .unknown, .unknown])
        var request = PlanRequest(conditions: [equal(1)], order: [.init(column: 2)])
        // A few rows are sorted faster.
        #expect(facts.indexToRead(for: request) == nil)
        request.hasLimit = true
        #expect(facts.indexToRead(for: request) == 0)
        request.order = [.init(column: 3)]
        #expect(facts.indexToRead(for: request) == nil)
        request.order = [.init(column: 2)]
        facts.indexes[0].isRead = true
        #expect(facts.indexToRead(for: request) == nil)
        facts.indexes[0] = IndexFacts(columns: [1, 2], content: [[.bool, .number], .unknown])
        #expect(facts.indexToRead(for: request) == nil)
    }

    @Test func `a plan is shown in words`() {
        let columns = ["id", "list", "due", "n", "size"]
        func text(_ plan: ScanPlan) -> String { plan.text(columns) }
        func plan(_ conditions: [PlanRequest.Condition], _ order: [PlanRequest.Key] = []) -> ScanPlan {
            facts().plan(PlanRequest(conditions: conditions, order: order))
        }
        #expect(text(plan([])) == "all rows" && text(plan([], [.init(column: 0)])) == "all rows, in order")
        #expect(text(plan([equal(0)])) == "id = ?" && text(plan([more(0), less(0)])) == "id > ? and id < ?")
        #expect(
            text(plan([equal(1), more(2)], [.init(column: 2)]))
                == "the index on list, due, n: list = ? and due > ?, in order")
        #expect(
            text(plan([equal(1), more(2)], [.init(column: 2, isDescending: true)]))
                == "the index on list, due, n: list = ? and due > ?, in order from the end")
        #expect(
            text(facts(keeps: true).plan(PlanRequest(conditions: [], read: 0b10)))
                == "entries of the index on list, due, n")
        let list = PlanRequest.Condition(column: 1, comparison: .equal, isList: true)
        #expect(text(plan([list])) == "the index on list, due, n: list in ?")
        #expect(text(plan([equal(4)])) == "an index made for size = ?")
    }
}
