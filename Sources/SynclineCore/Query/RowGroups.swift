// The groups of an aggregate, computed from rows that come and go one by one, in any order. Rows whose values have one
// meaning are a group, and its values are spelled as in the row with the lowest id.

import SynclineGround

struct RowGroups {
    struct Group {
        /// The encoded values that its rows have in common, as in the row with the lowest id.
        var spelling: Spelling
        var rows = 0
        var tallies: [Tally]
    }

    let aggregate: RowAggregate
    private(set) var keys: [GroupKey]
    private let work: FilterWork
    /// The columns of the functions that have one, with the number of the function.
    var columns: [(function: Int, column: RowColumn, type: ColumnType)]
    private let types: TableTypes
    private(set) var groups: [Group] = []
    /// How many of them have no rows.
    private var empty = 0
    /// Where the group of each key is. The keys sort as their values do.
    private var places: [[UInt8]: Int] = [:]
    private var place = ByteWriter(capacity: 256)
    private var values = ByteWriter(capacity: 256)

    init(_ aggregate: RowAggregate, _ types: TableTypes) {
        self.aggregate = aggregate
        keys = aggregate.groups.map { GroupKey($0, types) }
        work = FilterWork(types)
        columns = aggregate.functions.enumerated().compactMap { number, function in
            function.column.map { (number, RowColumn($0), types[$0]) }
        }
        self.types = types
        // Without columns, there is one group even if there are no rows.
        if keys.isEmpty { addGroup([]) }
    }

    /// The groups in the order of their keys.
    var result: [RowGroup] {
        places.sorted { IndexInterval.isBefore($0.key, $1.key) }.map { groups[$0.value] }
            .filter { $0.rows > 0 || keys.isEmpty }
            .map { group in
                RowGroup(
                    key: group.spelling.values(keys.count), values: group.tallies.map { $0.value(group.rows) })
            }
    }

    /// Adds a row, or removes one that was added. Returns false if the groups have to be computed again from all rows,
    /// because the result depends on those that are left, or because many groups are empty.
    mutating func change(_ row: EncodedRowView, isAdded: Bool) throws(SyncError) -> Bool {
        do throws(MalformedBytes) {
            var (index, isExact) = try change(onlyRowsWith: row, isAdded: isAdded)
            for number in columns.indices {
                guard let value = columns[number].column.encoded(row) else { continue }
                let function = columns[number].function
                if try !groups[index].tallies[function].change(value, of: row, isAdded: isAdded) { isExact = false }
            }
            return isExact
        } catch {
            throw .malformed("a row of the state")
        }
    }

    // MARK: Many rows

    /// Where a block with rows of a shape has the columns by which they are grouped, except for those that it lacks. Nil if
    /// rows are not grouped by columns alone.
    mutating func keyPlaces(in shape: Unmanaged<RowShape>) -> [Int]? {
        var places: [Int] = []
        for index in keys.indices {
            guard keys[index].isColumn else { return nil }
            if let place = keys[index].place(in: shape) { places.append(place) }
        }
        return places
    }

    /// Adds a row, but not its values. Returns its group.
    mutating func begin(_ row: EncodedRowView) throws(SyncError) -> Int {
        do throws(MalformedBytes) {
            return try change(onlyRowsWith: row, isAdded: true).group
        } catch {
            throw .malformed("a row of the state")
        }
    }

    /// Adds rows to a group, but not their values.
    mutating func addRows(_ count: Int, to group: Int) {
        if groups[group].rows == 0, count > 0 { empty -= 1 }
        groups[group].rows += count
    }

    /// Adds a value that rows have, of which one is given, to what a function computes for their group.
    mutating func add(
        _ value: Bytes, of row: EncodedRowView, times rows: Int, to group: Int, _ function: Int
    ) throws(SyncError) {
        do throws(MalformedBytes) {
            try groups[group].tallies[function].add(value, of: row, times: rows)
        } catch {
            throw .malformed("a row of the state")
        }
    }

    /// Adds integers to a sum: how many, the least, and the sum of what they have above it.
    mutating func add(_ rows: Int, _ least: Int64, above: UInt64, to group: Int, _ function: Int) {
        groups[group].tallies[function].add(rows, least, above: above)
    }

    // MARK: Keys

    /// Finds the group of a row, and adds or removes the row, but not its values. The group may not be exact afterwards.
    private mutating func change(
        onlyRowsWith row: EncodedRowView, isAdded: Bool
    ) throws(MalformedBytes) -> (group: Int, isExact: Bool) {
        let index = keys.isEmpty ? 0 : try group(of: row)
        groups[index].rows += isAdded ? 1 : -1
        if groups[index].rows == (isAdded ? 1 : 0) { empty += isAdded ? -1 : 1 }
        var isExact = empty <= max(64, groups.count / 2)
        if !keys.isEmpty, !groups[index].spelling.change(values, of: row, isAdded: isAdded, groups[index].rows) {
            isExact = false
        }
        return (index, isExact)
    }

    /// Adds a group and returns where it is.
    @discardableResult
    private mutating func addGroup(_ place: [UInt8]) -> Int {
        places[place] = groups.count
        let tallies = aggregate.functions.map { Tally($0, $0.column.map { types[$0] } ?? .any) }
        groups.append(Group(spelling: Spelling(), tallies: tallies))
        empty += 1
        return groups.count - 1
    }

    /// The group of a row, which is added if it is not there.
    private mutating func group(of row: EncodedRowView) throws(MalformedBytes) -> Int {
        try readKey(of: row)
        let place = place.bytes
        return places[place] ?? addGroup(place)
    }

    /// Reads the place of the row's group in the order of all groups, and the values that it has in common with them.
    private mutating func readKey(of row: EncodedRowView) throws(MalformedBytes) {
        place.removeAll()
        values.removeAll()
        work.beginRow()
        for index in keys.indices { try keys[index].read(row, work, &place, &values) }
    }
}

/// An expression by whose values rows are grouped.
struct GroupKey {
    private let expression: FilterExpression
    /// The column that the expression is; nil if it has to be computed.
    private var column: RowColumn?
    private let type: ColumnType

    init(_ expression: FilterExpression, _ types: TableTypes) {
        self.expression = expression
        guard case .column(let path) = expression, path.count == 1 else {
            type = .any
            return
        }
        (column, type) = (RowColumn(path[0]), types[path[0]])
    }

    var isColumn: Bool { column.map { !$0.isID } ?? false }

    mutating func place(in shape: Unmanaged<RowShape>) -> Int? { column?.place(in: shape) }

    /// Appends the place of a row's value in the order of all values, and the value.
    mutating func read(
        _ row: EncodedRowView, _ work: FilterWork, _ place: inout ByteWriter, _ values: inout ByteWriter
    ) throws(MalformedBytes) {
        guard column != nil else {
            let operand = expression.operand(in: row, work)
            return try operand.value.encoded.withBytes { value throws(MalformedBytes) in
                try GroupKey.append(value, as: operand.type, &place, &values)
            }
        }
        guard let value = column?.encoded(row) else {
            place.append(SortTag.null)
            values.append(ValueTag.null)
            return
        }
        try GroupKey.append(value, as: type, &place, &values)
    }

    private static func append(
        _ value: Bytes, as type: ColumnType, _ place: inout ByteWriter, _ values: inout ByteWriter
    ) throws(MalformedBytes) {
        try place.append(sortOfEncoded: value, as: type)
        let bytes = try value.firstValue()
        // Arrays and objects have no order, but differ.
        if value.first == ValueTag.array || value.first == ValueTag.object { place.append(try bytes.meaning()) }
        values.append(bytes)
    }
}

/// How values with one meaning are spelled: as in the row with the lowest id.
struct Spelling {
    private var values: [UInt8] = []
    private var id: [UInt8] = []
    /// Whether all rows so far spell them alike, so that it does not matter which of them has the lowest id.
    private var isUniform = true

    /// Takes a row into account. Returns false if it may have been the one with the lowest id.
    /// - Parameter rows: How many rows have the values afterwards.
    mutating func change(_ new: ByteWriter, of row: EncodedRowView, isAdded: Bool, _ rows: Int) -> Bool {
        new.withView { new in change(new, of: row, isAdded: isAdded, rows) }
    }

    mutating func change(_ new: Bytes, of row: EncodedRowView, isAdded: Bool, _ rows: Int) -> Bool {
        let isSame = values.withBytes { $0.hasSameBytes(as: new) }
        if !isAdded {
            if rows == 0 { self = Spelling() }
            return isUniform || rows == 0
        }
        if id.isEmpty || rows == 1 {
            values = [UInt8](new)
            isUniform = true
            row.withID { id = [UInt8]($0) }
            return true
        }
        if !isSame { isUniform = false }
        row.withID { other in
            guard id.withBytes({ other.compare($0) < 0 }) else { return }
            id = [UInt8](other)
            if !isSame { values = [UInt8](new) }
        }
        return true
    }

    /// The first values; null for each that can't be read.
    func values(_ count: Int) -> [Value] {
        values.withBytes { bytes in
            var reader = ByteReader(bytes)
            return (0..<count).map { _ in (try? reader.value()) ?? .null }
        }
    }
}

/// The running result of one function of a group.
struct Tally {
    private let function: RowAggregate.Function
    private let type: ColumnType
    private var numbers: NumberSum
    private var extreme: Extreme

    init(_ function: RowAggregate.Function, _ type: ColumnType) {
        self.function = function
        self.type = type
        numbers = NumberSum(type)
        extreme = if case .max = function { Extreme(type, isLast: true) } else { Extreme(type, isLast: false) }
    }

    /// Returns false if the result depends on the values that are left.
    mutating func change(_ value: Bytes, of row: EncodedRowView, isAdded: Bool) throws(MalformedBytes) -> Bool {
        switch function {
        case .count: break
        case .sum, .average: try numbers.change(encoded: value, isAdded: isAdded)
        case .min, .max: return try extreme.change(value, of: row, isAdded: isAdded)
        }
        return true
    }

    /// Adds a value that several rows have, of which one is given.
    mutating func add(_ value: Bytes, of row: EncodedRowView, times rows: Int) throws(MalformedBytes) {
        switch function {
        case .count: break
        case .sum, .average: try numbers.add(encoded: value, times: rows)
        case .min, .max: _ = try extreme.change(value, of: row, isAdded: true, times: rows)
        }
    }

    mutating func add(_ count: Int, _ least: Int64, above: UInt64) { numbers.add(count, least, above: above) }

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
    /// An encoded array or object, the same for all with one meaning.
    fileprivate func meaning() throws(MalformedBytes) -> [UInt8] {
        var reader = ByteReader(self)
        return try reader.value().meaningOfStructure.encoded
    }
}

extension Value {
    /// The same value for all that `means` calls equivalent: members by name, and numbers without their spelling.
    fileprivate var meaningOfStructure: Value {
        switch self {
        case .double(let number): Int64(exactly: number).map { .integer($0) } ?? self
        case .number(let number):
            number.isDouble
                ? Value.double(number.rounded).meaningOfStructure : NumberDigits(number: self)?.value ?? self
        case .array(let elements): .array(elements.map(\.meaningOfStructure))
        case .object(let members):
            .object(
                members.filter { !$0.value.isNull }.map { Member($0.name, $0.value.meaningOfStructure) }
                    .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
        default: self
        }
    }
}
