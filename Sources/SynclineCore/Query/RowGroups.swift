// The groups of an aggregate, computed from rows that come and go one by one, in any order.

import SynclineGround

struct RowGroups {
    private struct Group {
        /// The values that its rows have in common.
        var key: [Value]
        var rows = 0
        var tallies: [Tally]
    }

    let aggregate: RowAggregate
    private var keys: [RowColumn]
    /// The column of each function.
    private var columns: [RowColumn?]
    private var groups: [Group] = []
    /// How many of them have no rows.
    private var empty = 0
    /// Where the group of each key is. The keys sort as their values do.
    private var places: [[UInt8]: Int] = [:]
    private var place = ByteWriter(capacity: 256)

    init(_ aggregate: RowAggregate) {
        self.aggregate = aggregate
        keys = aggregate.groups.map { RowColumn($0) }
        columns = aggregate.functions.map { $0.column.map { RowColumn($0) } }
        // Without columns, there is one group even if there are no rows.
        if keys.isEmpty { addGroup([], []) }
    }

    /// The groups in the order of their keys.
    var result: [RowGroup] {
        places.sorted { IndexInterval.isBefore($0.key, $1.key) }.map { groups[$0.value] }
            .filter { $0.rows > 0 || keys.isEmpty }
            .map { group in RowGroup(key: group.key, values: group.tallies.map { $0.value(group.rows) }) }
    }

    /// Adds a row, or removes one that was added. Returns false if the groups have to be computed again from all rows,
    /// because the result depends on those that are left, or because many groups are empty.
    mutating func change(_ row: EncodedRowView, isAdded: Bool) throws(StateError) -> Bool {
        do throws(MalformedBytes) {
            let place = try place(of: row)
            if places[place] == nil { addGroup(place, try key(of: row)) }
            guard let index = places[place] else { return false }
            groups[index].rows += isAdded ? 1 : -1
            if groups[index].rows == (isAdded ? 1 : 0) { empty += isAdded ? -1 : 1 }
            var isExact = empty <= max(64, groups.count / 2)
            for number in columns.indices {
                guard let value = columns[number]?.encoded(row) else { continue }
                if try !groups[index].tallies[number].change(value, isAdded: isAdded) { isExact = false }
            }
            return isExact
        } catch {
            throw .malformed("a row of the state")
        }
    }

    private mutating func addGroup(_ place: [UInt8], _ key: [Value]) {
        places[place] = groups.count
        groups.append(Group(key: key, tallies: aggregate.functions.map { Tally($0) }))
        empty += 1
    }

    /// The place of the row's group in the order of all groups.
    private mutating func place(of row: EncodedRowView) throws(MalformedBytes) -> [UInt8] {
        place.removeAll()
        for index in keys.indices {
            guard let value = keys[index].encoded(row) else {
                place.append(SortTag.null)
                continue
            }
            try place.append(sortOfEncoded: value)
            // Arrays and objects have no order, but differ.
            if value.first == ValueTag.array || value.first == ValueTag.object { place.append(try value.firstValue()) }
        }
        return place.bytes
    }

    private mutating func key(of row: EncodedRowView) throws(MalformedBytes) -> [Value] {
        var key: [Value] = []
        for index in keys.indices {
            guard let encoded = keys[index].encoded(row) else {
                key.append(.null)
                continue
            }
            key.append(try encoded.decoded().canonical)
        }
        return key
    }
}

/// What is known of one function of a group.
private struct Tally {
    private let function: RowAggregate.Function
    private var numbers = NumberSum()
    private var extreme: Extreme

    init(_ function: RowAggregate.Function) {
        self.function = function
        extreme = if case .max = function { Extreme(isLast: true) } else { Extreme(isLast: false) }
    }

    /// Returns false if the result depends on the values that are left.
    mutating func change(_ value: Bytes, isAdded: Bool) throws(MalformedBytes) -> Bool {
        switch function {
        case .count: break
        case .sum, .average: numbers.change(try value.decoded(), isAdded: isAdded)
        case .min, .max: return try extreme.change(value, isAdded: isAdded)
        }
        return true
    }

    func value(_ rows: Int) -> Value {
        switch function {
        case .count: .integer(Int64(rows))
        case .sum: numbers.sum
        case .average: numbers.average
        case .min, .max: extreme.value
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The value that is encoded first.
    fileprivate func decoded() throws(MalformedBytes) -> Value {
        var reader = ByteReader(self)
        return try reader.value()
    }
}

extension Value {
    /// The same value for all values that sort equal: numbers as integers if they are whole, and dates in UTC.
    fileprivate var canonical: Value {
        switch self {
        case .double(let number): Int64(exactly: number).map { .integer($0) } ?? self
        case .number(let number) where number.isDouble: Value.double(number.rounded).canonical
        case .date(let date): .date(Timestamp(date.instant, decimals: 9))
        default: self
        }
    }
}
