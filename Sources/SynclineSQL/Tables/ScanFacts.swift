// The planner: chooses a scan from facts about the table. The code is pure. SQLite checks every condition again, so
// a plan may return too many rows, but never too few.

import SynclineCore

struct ScanFacts: Hashable {
    var count: Int
    /// The indexes of the table.
    var indexes: [IndexFacts] = []
    /// Whether rows can be read in the order of their ids.
    var sortsIDs = true
    /// Whether ids sort as they do in an index.
    var hasOneIDForm = false

    /// The cheapest plan.
    func plan(_ request: PlanRequest) -> ScanPlan { plan(request, onlyKnown: true) }

    /// The index whose entries must be read once after a commit, because it would have the wanted order if its columns had
    /// the right values. That is not worth it if SQLite sorts a few rows otherwise.
    func indexToRead(for request: PlanRequest) -> Int? {
        guard case .index(let part) = plan(request, onlyKnown: false).access, part.choice.isOrdered,
            !indexes[part.index].isRead, request.hasLimit || part.choice.isCovering
        else { return nil }
        return part.index
    }

    /// - Parameter onlyKnown: Whether an index whose order is not known has none.
    private func plan(_ request: PlanRequest, onlyKnown: Bool) -> ScanPlan {
        // SQLite does not estimate how many rows of a virtual table satisfy a condition that the scan does not use.
        let isFiltered = request.containsEquality()
        let all = ScanPlan(access: .all, cost: size, rows: IndexChoice.rows(of: size, isFiltered: isFiltered))
        var plans = [inOrderOfIDs(all, request)]
        for (place, condition) in request.conditions.enumerated() {
            guard let condition, let found = plan(condition, place, request) else { continue }
            plans.append(inOrderOfIDs(found, request))
        }
        if let part = part(request, onlyKnown) { plans.append(part) }
        func cost(_ plan: ScanPlan) -> Double {
            // SQLite sorts the rows otherwise.
            request.order.isEmpty || plan.isOrdered ? plan.cost : plan.cost + plan.rows / 2
        }
        return plans.min { cost($0) < cost($1) } ?? plans[0]
    }

    private var size: Double { Double(max(count, 1)) }

    /// The same plan, in the order of ids if that is wanted. The id is unique, so keys after it do not matter.
    private func inOrderOfIDs(_ plan: ScanPlan, _ request: PlanRequest) -> ScanPlan {
        var plan = plan
        guard let key = request.order.first, key.column == 0, !key.isDescending, plan.list == nil else { return plan }
        switch plan.access {
        case .all, .id, .idRange: plan.isOrdered = sortsIDs
        default: break
        }
        return plan
    }

    /// A plan for a condition on the id, or on a column without an index.
    private func plan(_ condition: PlanRequest.Condition, _ place: Int, _ request: PlanRequest) -> ScanPlan? {
        let column = condition.column
        if condition.comparison == .equal {
            if column == 0 {
                // How many ids a list has is not known.
                let (list, count) = condition.isList ? (0, 4.0) : (nil, 1)
                return ScanPlan(access: .id, used: [place], list: list, cost: 3 * count, rows: count)
            }
            if indexes.contains(where: { $0.columns[0] == column }) { return nil }
            // One value, or one list, finds a part of the rows, and no index is made for it.
            if condition.isConstant || condition.isList {
                return ScanPlan(
                    access: .made(column: column), used: [place], list: condition.isList ? 0 : nil, cost: size * 0.99,
                    rows: IndexChoice.rows(of: size, isFiltered: true))
            }
            // Making the index is paid for once by all scans of the statement.
            return ScanPlan(
                access: .made(column: column), used: [place], cost: min(size * 0.99, 50 + size / 50),
                rows: min(size, 10))
        }
        guard column == 0, sortsIDs else { return nil }
        let (ends, used) = request.range(column)
        var range = IndexChoice()
        _ = range.add(.range(ends))
        let rows = range.rows(of: size)
        return ScanPlan(access: .idRange(ends), used: used, cost: rows, rows: rows)
    }

    /// A plan for the cheapest use of an index; nil if none is of use.
    private func part(_ request: PlanRequest, _ onlyKnown: Bool) -> ScanPlan? {
        let sorts = !request.order.isEmpty
        let limit = IndexChoice.tablePrice(
            sorts: sorts && request.order[0].column != 0, isFiltered: request.containsEquality())
        let uses = indexes.indices.map { use(of: $0, request) }.filter(\.part.choice.isOfUse)
        let cheapest = uses.min { $0.part.choice.price(sorts: sorts) < $1.part.choice.price(sorts: sorts) }
        guard let (best, used) = cheapest, best.choice.price(sorts: sorts) < limit else { return nil }
        var part = best
        let isKnown = indexes[part.index].isBackward(part.choice, request, ids: hasIDOrder) != nil
        if onlyKnown, part.choice.isOrdered, !isKnown {
            part.choice.dropOrder()
            part.choice.isCovering = covers(indexes[part.index], request, isNarrowed: part.choice.isNarrowed)
            guard part.choice.isOfUse else { return nil }
        }
        return ScanPlan(
            access: .index(part), used: used, list: part.choice.list, isOrdered: part.choice.isOrdered,
            cost: part.choice.cost(of: size), rows: part.choice.rows(of: size))
    }

    /// Whether ids sort as their rows' keys do.
    private var hasIDOrder: Bool { sortsIDs && hasOneIDForm }

    /// Whether the entries of an index have all that is read. Many rows that are looked up take longer than the table.
    private func covers(_ index: IndexFacts, _ request: PlanRequest, isNarrowed: Bool) -> Bool {
        sortsIDs && index.covers(request.read) && (index.keepsValues || isNarrowed || !index.mayNeedRows)
    }

    /// The use of an index for the conditions, with the positions of those that it takes into account. An order that is
    /// not known is assumed.
    private func use(of place: Int, _ request: PlanRequest) -> (part: IndexPart, used: [Int]) {
        let index = indexes[place]
        var choice = IndexChoice()
        var used: [Int] = []
        for column in index.columns {
            guard let found = request.condition(column, allowsList: choice.list == nil) else { break }
            used += found.used
            if !choice.add(found.condition) { break }
        }
        choice.isFiltered = request.containsEquality(outside: index.columns.prefix(choice.equal))
        let assumed = index.isRead ? index : index.atBest
        let isBackward = assumed.isBackward(choice, request, ids: hasIDOrder)
        choice.isCovering = covers(isBackward == nil ? index : assumed, request, isNarrowed: choice.isNarrowed)
        if let isBackward {
            choice.setOrder(
                isBackward: isBackward, hasLimit: request.hasLimit, hasOthers: !request.hasOnly(used))
        }
        return (IndexPart(index: place, columns: index.columns, choice: choice), used)
    }
}

/// The known facts about an index.
struct IndexFacts: Hashable {
    /// The columns that it is sorted by.
    var columns: [Int]
    /// What each of these columns may have.
    var content: [IndexContent]
    /// Whether its entries were read to find that.
    var isRead = false
    /// Whether entries with the same values in these columns are in the order of their rows' keys.
    var sortsIDs = true
    /// The columns whose values its entries have, as bits, with the id; 0 if rows have to be looked up.
    var kept: UInt64 = 0
    /// Whether entries have these values as rows do. Otherwise they are read from the keys, except for values that only the
    /// row has.
    var keepsValues = false

    /// The same if its columns have nothing that is not known.
    fileprivate var atBest: IndexFacts {
        var copy = self
        copy.content = content.map {
            $0 == .unknown ? [] : $0.subtracting([.fineDate, .wideNumber, .numericString, .cut])
        }
        return copy
    }

    /// Whether rows may have values that their entries' keys do not have.
    fileprivate var mayNeedRows: Bool {
        content.contains { !$0.isDisjoint(with: [.cut, .structure, .decimal, .unfit]) }
    }

    /// Whether its entries have some columns.
    func covers(_ read: UInt64) -> Bool { kept != 0 && read & ~kept == 0 }

    /// Whether its last entries come first in the wanted order, in the part that a choice leaves. Nil if its entries do
    /// not have this order.
    /// - Parameter ids: Whether ids sort as their rows' keys do.
    fileprivate func isBackward(_ choice: IndexChoice, _ request: PlanRequest, ids: Bool) -> Bool? {
        let (order, equal) = (request.order, choice.equal)
        // Each row has the same value in these columns.
        let keys = order.filter { !columns.prefix(equal).contains($0.column) }
        guard !order.isEmpty, content.prefix(equal).allSatisfy(\.hasOnePlace) else { return nil }
        var left = Array(zip(columns, content))[equal...]
        for (place, key) in keys.enumerated() {
            guard key.isDescending == keys[0].isDescending else { return nil }
            if key.column == 0 { return left.isEmpty && ids && sortsIDs ? key.isDescending : nil }
            guard let (column, content) = left.popFirst(), column == key.column else { return nil }
            guard content.isSorted(isLast: place == keys.count - 1) else { return nil }
        }
        return keys.first?.isDescending ?? false
    }
}

extension IndexContent {
    /// Whether all values that equal one value in SQL are at one place of the index.
    fileprivate var hasOnePlace: Bool {
        isDisjoint(with: [.bytes, .structure, .fineDate, .wideNumber, .numericString, .unfit]) && !mixesKinds
    }

    /// Whether the values are in SQL's order. Dates that are the same in SQL may have different places, which only does
    /// not matter if nothing is sorted within them. A decimal that no double holds is a string in SQL.
    fileprivate func isSorted(isLast: Bool) -> Bool {
        isDisjoint(with: [.structure, .cut, .unfit]) && !mixesKinds && !isSuperset(of: [.decimal, .wideNumber])
            && (isLast || isDisjoint(with: [.fineDate, .wideNumber]))
    }

    /// Whether there are values of two kinds that are one in SQL.
    private var mixesKinds: Bool { isSuperset(of: [.bool, .number]) || isSuperset(of: [.date, .string]) }
}
