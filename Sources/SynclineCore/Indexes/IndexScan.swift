// The part of an index that a filter leaves: all rows that can match are in it.

import SynclineGround

final class IndexScan {
    let index: TableIndex
    /// The length of what the keys of all entries of the index have in common.
    let prefixLength: Int
    /// In the order of the keys, and apart from each other.
    var ranges: [IndexRange] { several ?? [IndexRange(prefix: pinnedPrefix)] }
    /// Whether it consists of all keys that begin with the pinned prefix.
    var isWhole: Bool { several == nil }
    /// The ranges otherwise.
    private var several: [IndexRange]?
    /// The number of its first columns that have one value each in all of it.
    private(set) var pins = 0
    /// Whether the entries of all ranges together are in the order of the columns after those.
    private(set) var isInOrder = true
    /// What the keys have in common up to these columns.
    // Unchecked: it changes in `init` only.
    @exclusivity(unchecked) private(set) var pinnedPrefix: [UInt8]
    /// Whether the filter says no more than that rows are in it.
    private(set) var isExact = true
    /// Whether there are conditions that do not narrow it.
    private(set) var hasOthers = false
    /// How it is used.
    var choice = IndexChoice()

    init(_ index: TableIndex, _ table: String, _ conditions: FilterConditions) {
        self.index = index
        pinnedPrefix = index.prefix(table)
        prefixLength = pinnedPrefix.count
        // Nil while there is only the one that is pinned.
        var prefixes: [[UInt8]]?
        var used = 0
        /// Whether conditions on the next column count.
        var counts = true
        for column in index.distinctColumns {
            if prefixes == nil, conditions.appendPlace(of: column, in: index, to: &pinnedPrefix) {
                used += 1
                pins += 1
                counts = choice.add(.value)
                continue
            }
            guard let intervals = conditions.intervals(of: column, in: index, &used) else { break }
            for interval in intervals where !interval.isExact { isExact = false }
            if counts { counts = choice.add(IndexChoice.Condition(intervals)) }
            if pin(intervals, &prefixes) { continue }
            several = (prefixes ?? [pinnedPrefix]).flatMap { prefix in
                intervals.map { IndexRange(start: prefix + $0.low, end: prefix + $0.high) }
            }
            prefixes = nil
            break
        }
        if let prefixes { several = prefixes.map { IndexRange(prefix: $0) } }
        hasOthers = used < conditions.count
        isExact = isExact && !hasOthers
    }

    /// More are not worth their time.
    private static let rangeLimit = 64

    /// Continues the prefixes with the places of a column, if it has few single ones.
    private func pin(_ intervals: [IndexInterval], _ prefixes: inout [[UInt8]]?) -> Bool {
        guard intervals.allSatisfy(\.isPoint), (prefixes?.count ?? 1) * intervals.count <= IndexScan.rangeLimit
        else { return false }
        if prefixes == nil, intervals.count == 1 {
            pinnedPrefix += intervals[0].low
            pins += 1
        } else {
            prefixes = (prefixes ?? [pinnedPrefix]).flatMap { prefix in intervals.map { prefix + $0.low } }
            isInOrder = prefixes?.isEmpty ?? true
        }
        return true
    }

    /// The id of a row, in the form that keys have, at the end of an entry's key.
    func rowID(in key: Bytes) throws(SyncError) -> Bytes {
        if isPinned, isWhole { return Bytes(rebasing: key[pinnedPrefix.count...]) }
        return try index.rowID(in: key, from: prefixLength)
    }

    /// Whether each column has one value in all of it, so that its entries are in the order of the rows' keys.
    var isPinned: Bool { pins == index.columns.count }

    /// The place of one of the first columns that have one value each.
    func pin(_ column: Int) -> [UInt8]? {
        pinnedPrefix.withBytes { key in
            var reader = ByteReader(key, at: prefixLength)
            var start = reader.offset
            for _ in 0...column {
                start = reader.offset
                guard (try? reader.skipSortValue()) != nil else { return nil }
            }
            return [UInt8](key[start..<reader.offset])
        }
    }

    /// The part that is not before, or not after, places of the columns after the pinned ones.
    func ranges(limitedTo places: [UInt8], isBackward: Bool) -> [IndexRange] {
        ranges.compactMap { range in
            var range = range
            let edge = pinnedPrefix + places
            if isBackward {
                let end = edge.followed(by: IndexInterval.highest)
                if IndexInterval.isBefore(end, range.end) { range.end = end }
            } else if IndexInterval.isBefore(range.start, edge) {
                range.start = edge
            }
            return IndexInterval.isBefore(range.start, range.end) ? range : nil
        }
    }
}

extension IndexChoice.Condition {
    /// What the intervals of a column say of it.
    fileprivate init(_ intervals: [IndexInterval]) {
        guard !intervals.allSatisfy(\.isPoint) else {
            self = intervals.count < 2 ? .value : .list
            return
        }
        // An open end is that of a kind of values.
        let hasBoth = intervals.contains { $0.low.count > 1 && $0.high.count > 1 }
        self = .range(hasBoth ? .both : intervals.contains { $0.low.count > 1 } ? .lower : .upper)
    }
}

/// What a filter says about single columns.
struct FilterConditions {
    /// Conditions on one column each that every match satisfies.
    private(set) var columns: [ColumnCondition] = []
    /// The number of conditions that all hold for every match, also of those that are not about one column.
    private(set) var count = 0
    /// Whether a state gives one of them its meaning. Those on one column compare it with values.
    private(set) var dependOnState = false

    init(_ filter: FilterExpression?) {
        if let filter { add(filter) }
    }

    private mutating func add(_ filter: FilterExpression) {
        if case .and(let left, let right) = filter {
            add(left)
            return add(right)
        }
        count += 1
        if let condition = ColumnCondition(filter) {
            columns.append(condition)
        } else if filter.dependsOnState {
            dependOnState = true
        }
    }

    /// Returns whether one of them is about a column.
    func contain(_ column: String) -> Bool { columns.contains { $0.column.hasSameBytes(as: column) } }

    /// Returns whether one of them is that a column which is none of these equals a value, or one of a list.
    func containEquality(outside names: ArraySlice<String> = []) -> Bool {
        columns.contains { condition in
            condition.isEquality && !names.contains { $0.hasSameBytes(as: condition.column) }
        }
    }

    /// Appends the place that the conditions on a column leave to a key; returns false if there is not exactly one
    /// condition, or if it does not leave a single place.
    fileprivate func appendPlace(of column: String, in index: TableIndex, to key: inout [UInt8]) -> Bool {
        var found: Int?
        for place in columns.indices where columns[place].column.hasSameBytes(as: column) {
            guard found == nil else { return false }
            found = place
        }
        return found.map { columns[$0].appendPlace(index, to: &key) } ?? false
    }

    /// The intervals that the conditions on a column leave; nil if none narrows it. Adds to `used` how many of the
    /// conditions they take into account.
    fileprivate func intervals(of column: String, in index: TableIndex, _ used: inout Int) -> [IndexInterval]? {
        var result: [IndexInterval]?
        for condition in columns where condition.column.hasSameBytes(as: column) {
            guard let some = condition.intervals(index) else { continue }
            used += 1
            guard let left = result else {
                result = some
                continue
            }
            result = left.flatMap { one in some.compactMap { one.intersection($0) } }
        }
        return result
    }
}

extension [UInt8] {
    /// The bytes and one more.
    func followed(by byte: UInt8) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count + 1) { memory, length in
            _ = memory.initialize(from: self)
            memory[count] = byte
            length = count + 1
        }
    }
}
