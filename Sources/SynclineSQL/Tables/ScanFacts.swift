// What is known of a table, and the plan that follows from it. The code is pure. SQLite checks every condition again, so
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
    /// The columns with an index that have only strings and null.
    var text: Set<Int> = []

    /// The cheapest plan.
    func plan(_ request: PlanRequest) -> ScanPlan {
        // SQLite does not estimate how many rows of a virtual table satisfy a condition that the scan does not use.
        let isFiltered = request.conditions.contains { $0?.comparison == .equal && $0?.isConstant == true }
        let all = ScanPlan(access: .all, cost: size, rows: isFiltered ? size / 8 : size)
        var plans = [inOrderOfIDs(all, request)]
        for (place, condition) in request.conditions.enumerated() {
            guard let condition, var found = plan(condition, place, request) else { continue }
            if condition.isList { found.takeList(of: size) }
            plans.append(inOrderOfIDs(found, request))
        }
        plans += indexes.indices.compactMap { part(of: $0, request) }
        if let entries = entries(request) { plans.append(entries) }
        func cost(_ plan: ScanPlan) -> Double {
            // SQLite sorts the rows otherwise.
            request.order.isEmpty || plan.isOrdered ? plan.cost : plan.cost + plan.rows / 2
        }
        return plans.min { cost($0) < cost($1) } ?? plans[0]
    }

    /// The index that would have the wanted order if its columns had the right values, which is not known yet. To find
    /// out, all of its entries are read once after a commit. That is not worth it if SQLite sorts a few rows otherwise.
    func indexToRead(for request: PlanRequest) -> Int? {
        var copy = self
        for place in indexes.indices where !indexes[place].isRead { copy.indexes[place].takeTheBest() }
        let plan = copy.plan(request)
        guard plan.isOrdered, case .index(let part) = plan.access, !indexes[part.index].isRead,
            request.hasLimit || part.isCovering
        else { return nil }
        return part.index
    }

    private var size: Double { Double(max(count, 1)) }

    /// The same plan, in the order of ids if that is wanted. The id is unique, so keys after it do not matter.
    private func inOrderOfIDs(_ plan: ScanPlan, _ request: PlanRequest) -> ScanPlan {
        var plan = plan
        guard let key = request.order.first, key.column == 0, !key.isDescending, !plan.isList else { return plan }
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
            if column == 0 { return ScanPlan(access: .id, used: [place], cost: 3, rows: 1) }
            if indexes.contains(where: { $0.columns[0] == column }) { return nil }
            // One value finds a part of the rows, and no index is made for it.
            if condition.isConstant {
                return ScanPlan(access: .made(column: column), used: [place], cost: size * 0.99, rows: size / 8)
            }
            // Making the index is paid for once by all scans of the statement.
            return ScanPlan(
                access: .made(column: column), used: [place], cost: min(size * 0.99, 50 + size / 50),
                rows: min(size, 10))
        }
        guard column == 0, sortsIDs else { return nil }
        let (ends, used) = request.range(column)
        let rows = size * ends.share
        return ScanPlan(access: .idRange(ends), used: used, cost: rows, rows: rows)
    }

    /// A plan for all values of a column of strings in their order.
    private func entries(_ request: PlanRequest) -> ScanPlan? {
        guard request.order.count == 1, let key = request.order.first, !key.isDescending, text.contains(key.column),
            request.readsOnly(key.column)
        else { return nil }
        return ScanPlan(access: .entries(column: key.column), isOrdered: true, cost: size * 0.8, rows: size)
    }

    /// A plan for the part of an index that the conditions leave; nil if the index is of no use.
    private func part(of place: Int, _ request: PlanRequest) -> ScanPlan? {
        let index = indexes[place]
        var part = IndexPart(index: place, columns: index.columns)
        var used: [Int] = []
        for column in index.columns {
            guard let found = request.equality(column) else { break }
            used.append(found)
        }
        part.equal = used.count
        let list = request.conditions.firstIndex { $0?.column == index.columns[0] && $0?.isList == true }
        if part.equal == 0, let list { return plan(list: list, part) }
        if part.equal < index.columns.count {
            let (ends, more) = request.range(index.columns[part.equal])
            part.ends = ends
            used += more
        }
        // Without a condition, the whole table is read faster than many rows that have to be looked up.
        part.isCovering =
            sortsIDs && index.covers(request.read) && (index.keepsValues || !used.isEmpty || !index.mayNeedRows)
        let isBackward = index.isBackward(request.order, after: part.equal, idsSort: sortsIDs && hasOneIDForm)
        // Without a value, only few of the rows that come first may satisfy another condition.
        let isWalk = request.hasLimit && (part.equal > 0 || request.hasOnly(used))
        part.isOrdered = isBackward != nil && (isWalk || part.equal > 0 || part.isCovering)
        part.isBackward = part.isOrdered && isBackward == true
        guard !used.isEmpty || part.isCovering || part.isOrdered else { return nil }
        return plan(part, used, isWalk: part.isOrdered && isWalk)
    }

    /// A plan for a list of values of the first column of an index.
    private func plan(list place: Int, _ part: IndexPart) -> ScanPlan {
        var part = part
        part.equal = 1
        var plan = plan(part, [place], isWalk: false)
        plan.takeList(of: size)
        return plan
    }

    /// - Parameter isWalk: Whether only the first rows are read.
    private func plan(_ part: IndexPart, _ used: [Int], isWalk: Bool) -> ScanPlan {
        let rows = rows(equal: part.equal) * part.ends.share
        let cost = part.isCovering ? 1 + rows * 0.9 : min(1 + rows * 2, size * 0.99)
        return ScanPlan(
            access: .index(part), used: used, isOrdered: part.isOrdered, cost: isWalk ? min(cost, 50) : cost,
            rows: isWalk ? min(rows, 25) : rows)
    }

    /// How often a value occurs is not known: in a large table more often than in a small one.
    private func rows(equal count: Int) -> Double {
        (0..<count).reduce(size) { rows, _ in rows.squareRoot() }
    }
}

/// What is known of an index.
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

    /// Assumes that its columns have nothing that is not known.
    fileprivate mutating func takeTheBest() {
        content = content.map { $0 == .unknown ? [] : $0.subtracting([.fineDate, .wideNumber, .numericString, .cut]) }
    }

    /// Whether rows may have values that their entries' keys do not have.
    fileprivate var mayNeedRows: Bool {
        content.contains { !$0.isDisjoint(with: [.cut, .structure, .decimal, .unfit]) }
    }

    /// Whether its entries have some columns.
    func covers(_ read: UInt64) -> Bool { kept != 0 && read & ~kept == 0 }

    /// Whether its last entries come first in an order of SQL, if some of its first columns equal a value. Nil if its
    /// entries do not have this order.
    /// - Parameter idsSort: Whether ids sort as their rows' keys do.
    func isBackward(_ order: [PlanRequest.Key], after equal: Int, idsSort: Bool) -> Bool? {
        // Each row has the same value in these columns.
        let keys = order.filter { !columns.prefix(equal).contains($0.column) }
        guard !order.isEmpty, content.prefix(equal).allSatisfy(\.hasOnePlace) else { return nil }
        var left = Array(zip(columns, content))[equal...]
        for (place, key) in keys.enumerated() {
            guard key.isDescending == keys[0].isDescending else { return nil }
            if key.column == 0 { return left.isEmpty && idsSort && sortsIDs ? key.isDescending : nil }
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

extension ScanPlan {
    /// Makes the plan one for a list of values. How many they are is not known.
    fileprivate mutating func takeList(of size: Double) {
        isList = true
        (cost, rows) = (min(cost * 4, size * 0.99), min(rows * 4, size))
    }
}

extension ScanPlan.Ends {
    /// The share of rows that is expected in a range.
    fileprivate var share: Double {
        switch self {
        case .none, .same: 1
        // Above every number there are strings.
        case .lower: 1 / 3
        case .upper: 1 / 4
        case .both: 1 / 16
        }
    }
}
