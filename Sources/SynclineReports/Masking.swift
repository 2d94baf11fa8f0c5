// Replaces an app's data in a report by masks that keep the store's behaviour: each value becomes one of the same
// type with the same rank in its column. Everything is visited twice in the same way: first to collect the values,
// then to mask them.

package import SynclineCore
import SynclineGround

package final class Masking {
    /// The parts that are masked only on request, and the key.
    package struct Options: Hashable, Sendable {
        package var ids = false
        package var names = false
        /// Makes masks that agree with those of other reports.
        package var key: MaskKey?

        package init() {}
    }

    /// A column, or a member of the objects it holds.
    package struct Place: Sendable {
        package var table: String
        package var path: [String]

        package init(_ table: String, _ path: [String]) {
            self.table = table
            self.path = path
        }

        package func below(_ name: String) -> Place { Place(table, path + [name]) }

        /// Whether values here are not masked.
        package var isPlain: Bool { path.count == 1 && Item.systemColumns.contains(path[0]) }
    }

    /// Replaces text written by a server or a person, which no machine reads.
    package static let words = "masked"
    /// The backend of a masked store.
    static let backend = "https://server.invalid/"
    /// How many shapes of rows are found without hashing them.
    private static let latestCount = 8
    /// The query id that a sync uses by default, which is not app data.
    private static let plainQueryIDs: Set<String> = ["sync"]

    package let options: Options
    private let ignoresCase: Bool
    /// Whether an event makes ids one that differ in case only; before it, they are different ids.
    private var comesToIgnoreCase = false
    /// The spellings of ids that are not in lower case, by their form in lower case.
    private var spellings: [ExactString: Set<ExactString>] = [:]
    private let coded: @Sendable ([UInt8]) -> String
    private var isClosed = false
    /// The values of each place, by the place's number.
    private var values: [MaskedValues] = []
    private var numbers: [Place: Int] = [:]
    /// The numbers of the columns of rows, nil for plain ones, until collecting ends or two columns are found to be one.
    private var columnNumbers: [Columns: [Int?]] = [:]

    /// Those of the rows of late, found by their shapes' identities.
    private var latest: [(shape: RowShape, table: String, numbers: [Int?])] = []

    private struct Columns: Hashable {
        let table: ExactString
        let shape: RowShape
    }
    private var keys: [Place: MaskedValues] = [:]
    private var tables = MaskedValues()
    private var columns = MaskedValues()
    private var ids = MaskedValues()
    private var queryIDs = MaskedValues()
    /// The types of columns.
    private var types: [Place: ColumnType] = [:]
    /// Columns that have had two names, with the first of them.
    private var others: [Place: Place] = [:]

    /// - Parameter coded: How bytes are written in JSON.
    package init(_ options: Options, ids comparison: IDComparison, coded: @escaping @Sendable ([UInt8]) -> String) {
        self.options = options
        self.coded = coded
        ignoresCase = comparison == .ignoreCase
    }

    /// A copy, for another thread.
    package init(_ other: Masking) {
        (options, ignoresCase, coded, isClosed) = (other.options, other.ignoresCase, other.coded, other.isClosed)
        (comesToIgnoreCase, spellings) = (other.comesToIgnoreCase, other.spellings)
        (values, numbers, columnNumbers) = (other.values, other.numbers, other.columnNumbers)
        (keys, tables, columns, ids, queryIDs) = (other.keys, other.tables, other.columns, other.ids, other.queryIDs)
        (types, others) = (other.types, other.others)
    }

    /// Ends collecting: what is visited from now on is masked.
    package func close() {
        for (place, number) in numbers where root(place) != place {
            numbers[place] = nil
            let (other, found) = (self.number(of: root(place)), values[number])
            values[other].add(found)
        }
        for (place, names) in keys where root(place) != place {
            keys[place] = nil
            keys[root(place), default: MaskedValues()].add(names)
        }
        for (place, type) in types { types[root(place)] = type }
        func key(_ place: Place) -> MaskKey? { options.key?.derived(for: place) }
        for (place, number) in numbers { values[number].close(as: types[place] ?? .any, key(place), coded: coded) }
        (columnNumbers, latest) = ([:], [])
        for place in keys.keys { keys[place]?.close(key(place.below("")), coded: coded) }
        tables.close(key(Place("", ["table"])), coded: coded)
        columns.close(key(Place("", ["column"])), coded: coded)
        ids.close(key(Place("", ["id"])), coded: coded)
        queryIDs.close(key(Place("", ["query"])), coded: coded)
        isClosed = true
    }

    // MARK: Values

    package func mask(_ value: Value, _ place: Place) -> Value {
        if place.isPlain { return value }
        switch value {
        case .null, .bool: return value
        case .array(let elements): return .array(elements.map { mask($0, place.below("[]")) })
        case .object(let members):
            return .object(members.map { .init(mask(key: $0.name, place), mask($0.value, place.below($0.name))) })
        default:
            return mask(value, ofPlace: number(of: isClosed ? root(place) : place))
        }
    }

    private func mask(_ value: Value, ofPlace number: Int) -> Value {
        if isClosed { return values[number].mask(value) }
        values[number].add(value)
        return value
    }

    /// The number of a place. A place that was not collected has the masks of unknown values.
    private func number(of place: Place) -> Int {
        if let number = numbers[place] { return number }
        numbers[place] = values.count
        values.append(MaskedValues())
        return values.count - 1
    }

    private func numbers(of row: Row, _ table: String) -> [Int?] {
        for index in latest.indices where latest[index].shape === row.shape {
            if latest[index].table.hasSameBytes(as: table) { return latest[index].numbers }
        }
        let columns = Columns(table: ExactString(table), shape: row.shape)
        let found =
            columnNumbers[columns]
            ?? row.columns.map { name -> Int? in
                let place = Place(table, [name])
                return place.isPlain ? nil : number(of: isClosed ? root(place) : place)
            }
        columnNumbers[columns] = found
        if latest.count == Masking.latestCount { latest.removeFirst() }
        latest.append((row.shape, table, found))
        return found
    }

    /// Masks the name of a member of an object in a column.
    package func mask(key: String, _ place: Place) -> String {
        if isClosed { return "k" + (keys[root(place)]?.mask("k" + key) ?? Masking.words) }
        keys[place, default: MaskedValues()].add(.string("k" + key))
        return key
    }

    /// Masks a row, except its id and the server's columns.
    package func mask(_ row: Row, _ table: String) -> Row {
        let numbers = numbers(of: row, table)
        var writer = ByteWriter(capacity: isClosed ? row.bytes.count : 0)
        row.withView { view in
            var reader = ByteReader(view.bytes)
            for (place, number) in numbers.enumerated() {
                let start = reader.offset
                if (try? reader.skipValue()) == nil { break }
                let encoded = UnsafeRawBufferPointer(rebasing: view.bytes[start..<reader.offset])
                switch (number, encoded.first) {
                case (nil, _):
                    if isClosed { writer.append(encoded) }
                case (_, ValueTag.array), (_, ValueTag.object):
                    var reader = ByteReader(encoded)
                    let masked = mask((try? reader.value()) ?? .null, Place(table, [row.shape.names[place]]))
                    if isClosed { writer.append(value: masked) }
                case (let number?, _):
                    if isClosed {
                        values[number].append(maskOf: encoded, to: &writer)
                    } else {
                        values[number].add(encoded: encoded)
                    }
                }
            }
        }
        let masked = isClosed ? Row(shape: row.shape, bytes: writer.bytes) : row
        guard options.names else { return masked }
        return Row(masked.members.map { Value.Member(mask(column: $0.name), $0.value) })
    }

    package func mask(words: String) -> String { isClosed ? Masking.words : words }

    // MARK: Names

    package func mask(table: String) -> String { options.names ? mask(table, "t", \.tables) : table }

    package func mask(column: String) -> String {
        options.names && column != "id" && !Item.systemColumns.contains(column)
            ? mask(column, "c", \.columns) : column
    }

    package func mask(id: String) -> String {
        if !options.ids { return id }
        let folded = IDComparison.folded(id)
        if ignoresCase || folded.hasSameBytes(as: id) { return mask(folded, "i", \.ids) }
        if isClosed {
            return comesToIgnoreCase ? spell(mask(folded, "i", \.ids), as: id, folded) : mask(id, "i", \.ids)
        }
        _ = mask(folded, "i", \.ids)
        spellings[ExactString(folded), default: []].insert(ExactString(id))
        return mask(id, "i", \.ids)
    }

    /// Spells the mask of an id in lower case in upper-case letters, too: differently for each spelling of the id.
    private func spell(_ mask: String, as id: String, _ folded: String) -> String {
        let known = spellings[ExactString(folded)]?.sorted() ?? []
        let number = (known.firstIndex(of: ExactString(id)) ?? known.count) + 1
        let letters = mask.utf8.enumerated().map { place, byte in
            place < 60 && number >> place & 1 == 1 ? byte & 0xdf : byte
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// Notes a setting, which may say that ids are compared in another way from now on.
    func note(setting name: String, _ value: Value?) {
        if name == SettingName.ids, value == .string("ignore-case") { comesToIgnoreCase = true }
    }

    package func mask(queryID: String) -> String {
        Masking.plainQueryIDs.contains(queryID) ? queryID : mask(queryID, "q", \.queryIDs)
    }

    /// The letter in front keeps a name from being read as a date, and its mask from being a keyword.
    private func mask(
        _ name: String, _ letter: String, _ names: ReferenceWritableKeyPath<Masking, MaskedValues>
    ) -> String {
        if isClosed { return letter + self[keyPath: names].mask(letter + name) }
        self[keyPath: names].add(.string(letter + name))
        return name
    }

    /// Notes the type of a column, whose values keep their meaning.
    func note(_ type: ColumnType, of table: String, _ column: String) {
        if !isClosed { types[Place(table, [column])] = type }
    }

    // MARK: Columns with two names

    /// Treats two names as one column; the first is nearer to the server's, which names the column to a key.
    package func join(_ table: String, _ first: String, _ second: String) {
        let (first, second) = (root(Place(table, [first])), root(Place(table, [second])))
        if first != second, !first.isPlain, !second.isPlain {
            others[second] = first
            (columnNumbers, latest) = ([:], [])
        }
    }

    private func root(_ place: Place) -> Place {
        if others.isEmpty { return place }
        var column = Place(place.table, Array(place.path.prefix(1)))
        while let first = others[column] { column = first }
        return Place(place.table, column.path + place.path.dropFirst())
    }
}

extension Masking.Place: Hashable {
    package static func == (left: Masking.Place, right: Masking.Place) -> Bool {
        left.table.hasSameBytes(as: right.table)
            && left.path.elementsEqual(right.path) { $0.hasSameBytes(as: $1) }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactString(table))
        for name in path { hasher.combine(ExactString(name)) }
    }
}
