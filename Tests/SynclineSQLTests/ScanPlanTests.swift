// How the rows of a table are found: by their ids, or by reading all of them.

import SynclineCore
import Testing

@testable import SynclineSQL

@Suite struct ScanPlanTests {
    private let facts = ScanFacts(count: 10_000, indexes: [IndexFacts(columns: [2], content: [.number])])

    private func plan(_ conditions: [PlanRequest.Condition?], _ order: [PlanRequest.Key] = []) -> ScanPlan {
        facts.plan(PlanRequest(conditions: conditions, order: order))
    }

    private func part(_ condition: IndexChoice.Condition) -> IndexPart {
        var choice = IndexChoice()
        _ = choice.add(condition)
        return IndexPart(index: 0, columns: [2], choice: choice)
    }

    @Test func `without conditions all rows are read, in the order of ids if that is wanted`() {
        #expect(plan([]).access == .all && !plan([]).isOrdered)
        #expect(plan([nil], [.init(column: 0)]).isOrdered)
        #expect(plan([nil], [.init(column: 0), .init(column: 3)]).isOrdered)
        #expect(!plan([nil], [.init(column: 0, isDescending: true)]).isOrdered)
        let mixed = ScanFacts(count: 10, sortsIDs: false)
        #expect(!mixed.plan(PlanRequest(conditions: [], order: [.init(column: 0)])).isOrdered)
    }

    @Test func `an id is best, then an index, then an index made for the statement`() {
        let all: [PlanRequest.Condition?] = [
            .init(column: 1, comparison: .equal), .init(column: 2, comparison: .equal),
            .init(column: 0, comparison: .equal),
        ]
        #expect(plan(all).access == .id && plan(all).used == [2])
        #expect(plan(Array(all[..<2])).access == .index(part(.value)))
        #expect(plan(Array(all[..<1])).access == .made(column: 1))
    }

    @Test func `a constant finds more rows than a value of another table's row`() {
        let joined = plan([.init(column: 1, comparison: .equal)])
        let constant = plan([.init(column: 1, comparison: .equal, isConstant: true)])
        #expect(joined.access == .made(column: 1) && constant.access == .made(column: 1))
        #expect(constant.rows > joined.rows && constant.cost > joined.cost)
    }

    @Test func `fewer rows are expected of all rows if a condition equals a constant, in the order of ids, too`() {
        let condition = PlanRequest.Condition(column: 1, comparison: .equal, isConstant: true)
        let found = plan([condition], [.init(column: 0)])
        #expect(found.access == .all && found.isOrdered && found.rows < plan([], [.init(column: 0)]).rows)
    }

    @Test func `a list of values is looked up, in no order`() {
        let list = PlanRequest.Condition(column: 0, comparison: .equal, isList: true)
        let found = plan([list], [.init(column: 0)])
        #expect(found.access == .id && found.list == 0 && !found.isOrdered)
        let indexed = plan([.init(column: 2, comparison: .equal, isList: true)], [.init(column: 2)])
        #expect(indexed.access == .index(part(.list)) && indexed.list == 0 && !indexed.isOrdered)
    }

    @Test func `the ends of a range are given lower end first`() {
        let range: [PlanRequest.Condition?] = [
            .init(column: 0, comparison: .less), nil, .init(column: 0, comparison: .greaterOrEqual),
        ]
        #expect(plan(range, [.init(column: 0)]).access == .idRange(.both))
        #expect(plan(range, [.init(column: 0)]).used == [2, 0] && plan(range, [.init(column: 0)]).isOrdered)
    }
}
