// A store with a random history: local changes, pages from a server, operations that were sent, indexes.

import SynclineCore
import SynclineTesting

@testable import Syncline

struct RandomStore {
    var chance: Chance
    /// Whether no id is a UUID, so that indexes have the order of ids.
    private let hasOneIDForm: Bool
    /// Whether some doubles are whole, and so equal an integer. SQLite may then show either.
    let hasWholeDoubles: Bool
    let database: SyncDatabase
    /// Strings that differ only after the part that an index has.
    static let long = ["a", "b"].map { String(repeating: "long ", count: 14) + $0 }
    /// Strings that SQL may compare as numbers, and some that only look so.
    static let numbers = ["5", "05", " 5", "5.0", "+5", "5e0", "7", "-1", "5x", "1-2", "0x5", "9007199254740993"]
    static let tables = ["item", "list", "Tag"]
    static let columns = [
        "n", "text", "list", "done", "when", "more", "size", "rank", "at", "word", "tag", "flag", "day", "code",
    ]
    /// The types that columns may have. Not all values of a column fit them.
    static let types: KeyValuePairs<String, [ColumnType]> = [
        "n": [.integer, .number, .string], "text": [.string, .integer, .number], "done": [.boolean, .string],
        "when": [.date, .string], "more": [.integer, .string, .date], "rank": [.number, .integer, .string],
        "at": [.date, .string], "word": [.string, .integer], "tag": [.string], "flag": [.boolean, .integer],
        "day": [.date], "code": [.string, .integer, .number],
    ]
    /// Short strings, none of which looks like a number.
    static let tags = ["", "a", "b", "c d"]
    /// Strings of which several are the same number.
    static let codes = ["5", "05", "5.0", "5x", "x"]
    /// Strings of a column that has only these. Some differ only after the part that an index has.
    static let words = ["", "milk", "2026-01-02", "5", "a\u{1}b", "a", "é"] + long + long.map { $0 + " c" }

    init(seed: UInt64) async throws {
        chance = Chance(seed: seed)
        hasOneIDForm = chance.once(in: 2)
        hasWholeDoubles = seed % 2 == 0
        var configuration = SyncConfiguration()
        configuration.log.segmentSize = .kibibytes(64)
        configuration.log.zeroAhead = .kibibytes(16)
        configuration.log.syncsWhenIdle = false
        // Small, so that some rows are in runs.
        configuration.memoryLimit = ByteCount(rawValue: chance.once(in: 2) ? 4096 : 1 << 20)
        if chance.once(in: 5) { configuration.ids = .ignoreCase }
        database = try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    /// Some tables get types first, which rows that they have may not fit.
    mutating func live(steps: Int) async throws {
        for table in RandomStore.tables where chance.once(in: 3) { try await declare(table) }
        for _ in 0..<steps { try await step() }
    }

    private mutating func declare(_ table: String) async throws {
        let known = try database.present.reader.types(of: table)
        var types: [String: ColumnType] = [:]
        for (column, choices) in RandomStore.types where known[column] == .any && chance.once(in: 2) {
            types[column] = chance.pick(choices)
        }
        if !types.isEmpty { try await database.declareColumns(table: table, types) }
    }

    private mutating func step() async throws {
        let table = chance.pick(RandomStore.tables)
        switch chance.below(14) {
        case 0, 13:
            let columns = indexColumns()
            try await database.declareIndex(
                table: table, columns: columns, including: included().filter { !columns.contains($0) })
        case 1: try await database.dropIndex(table: table, column: chance.pick(RandomStore.columns))
        case 2: try await tolerantly { [id = id()] in try await database.rows(of: table).delete(id: id) }
        case 3: if chance.once(in: 4) { try await database.purge(table: table, force: true) }
        case 4, 5: try await pull(table)
        case 6: try await send(table)
        case 7: try await tolerantly { _ = try await database.undo() }
        default:
            let types = try database.present.reader.types(of: table)
            let members = members().filter { Meaning($0.value, as: types[$0.name]).fits }
            let item = Value.object([.init("id", .string(id()))] + members)
            try await tolerantly { _ = try await database.rows(of: table).update(item) }
        }
    }

    /// A change may be refused: the row's delete is pending, or there is nothing to undo.
    private func tolerantly(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as SyncError
            where [.rowDeleted, .operationNotFound, .rowExists].contains(error.code)
        {}
    }

    private mutating func pull(_ table: String) async throws {
        var rows: [PulledRow] = []
        for _ in 0...chance.below(4) {
            let version = Value.Member("version", .string("v\(chance.below(1000))"))
            rows.append(PulledRow(id: id(), row: chance.once(in: 4) ? nil : Row(members() + [version])))
        }
        try await database.pull(PulledPage(table: table, queryID: "all", rows: rows, cursor: nil))
    }

    /// An operation is on its way to the server from here on.
    private mutating func send(_ table: String) async throws {
        let operations = try await database.pending().filter { !$0.isFrozen && !$0.isOneOfSeveral }
        guard let operation = operations.first else { return }
        let sent = SentOperation(
            table: operation.table, id: operation.id, operationID: "o\(chance.below(1 << 30))",
            position: operation.position, through: operation.through)
        _ = try await database.perform { engine throws(SyncError) in try engine.record(.sent([sent])) }
    }

    private mutating func id() -> String {
        switch chance.below(8) {
        case 0 where hasOneIDForm, 1 where hasOneIDForm: "r\(chance.below(12))"
        case 6: "\(chance.below(8))"
        case 7: chance.pick(["05", " 5", "5.0", "5e0", "5x"])
        case 0: "0F8FAD5B-D9CB-469F-A165-70867728950\(chance.below(8))"
        case 1: "0f8fad5b-d9cb-469f-a165-70867728950\(chance.below(8))"
        default: "r\(chance.below(12))"
        }
    }

    private mutating func members() -> [Value.Member] {
        var members: [Value.Member] = []
        for column in RandomStore.columns where chance.once(in: 2) { members.append(.init(column, value(column))) }
        return members
    }

    /// One to three columns, mostly those that have one kind of values.
    private mutating func indexColumns() -> [String] {
        let columns = ["tag", "flag", "day", "rank", "at", "code", "word"]
        let all = columns + columns + RandomStore.columns.filter { $0 != "size" }
        var picked: [String] = []
        for _ in 0...chance.below(3) {
            let column = chance.pick(all)
            if !picked.contains(column) { picked.append(column) }
        }
        return picked
    }

    /// Columns that an index includes: none, one, or more.
    private mutating func included() -> [String] { chance.pick([[], ["size"], ["size", "more"]]) }

    /// Some columns have one kind of values, so that an index on them has the order of SQL.
    private mutating func value(_ column: String) -> Value {
        switch column {
        case "rank":
            [.null, .integer(Int64(chance.below(20)) - 5), double()][chance.below(3)]
        case "at": chance.once(in: 5) ? .null : date()
        case "day": chance.once(in: 6) ? .null : day()
        case "tag": chance.once(in: 6) ? .null : .string(chance.pick(RandomStore.tags))
        case "code": chance.once(in: 6) ? .null : .string(chance.pick(RandomStore.codes))
        case "flag": chance.once(in: 6) ? .null : .bool(chance.once(in: 2))
        case "word": chance.once(in: 6) ? .null : .string(chance.pick(RandomStore.words))
        default: value()
        }
    }

    private mutating func double() -> Value {
        if chance.once(in: 6) {
            // Spellings that are not those of their doubles.
            let wide = ["18446744073709551616.0", "1E20", "-1e300"]
            let spelling = hasWholeDoubles && chance.once(in: 4) ? chance.pick(wide) : "\(chance.below(9)).50"
            return Value(number: spelling) ?? .null
        }
        return .double(hasWholeDoubles ? Double(chance.below(18)) / 2 : Double(chance.below(9)) + 0.5)
    }

    /// Some dates differ by less than a millisecond, which is the same moment in SQL.
    private mutating func date() -> Value {
        let moment = Timestamp.Instant(
            seconds: 1_767_225_600 + Int64(chance.below(4)) * 86_400,
            nanoseconds: chance.pick([0, 0, 400_000, 123_400_000]))
        return .date(Timestamp(moment, decimals: 9))
    }

    private mutating func day() -> Value {
        .date(Timestamp(.init(seconds: 1_767_225_600 + Int64(chance.below(4)) * 86_400), decimals: 3))
    }

    private mutating func value() -> Value {
        switch chance.below(16) {
        case 14, 15: .string(chance.pick(RandomStore.numbers))
        case 0: .null
        case 1: .bool(chance.once(in: 2))
        case 2: hasWholeDoubles && chance.once(in: 9) ? .double(9_007_199_254_740_992) : double()
        case 3: .bytes([1, UInt8(chance.below(4))])
        case 4: date()
        case 5: .array([.integer(Int64(chance.below(2)))])
        case 6:
            .string(
                chance.pick(["", "milk", "bread", "[1]", "2026-01-02", "2026-01-02T00:00:00.000Z"] + RandomStore.long))
        case 7, 8: .string("r\(chance.below(12))")
        case 9: .integer(chance.pick([Int64.max, Int64.min, 9_007_199_254_740_993]))
        default: .integer(Int64(chance.below(8)))
        }
    }
}

extension SyncDatabase {
    /// A page from a server.
    func pull(_ page: PulledPage) async throws(SyncError) {
        try await perform { engine throws(SyncError) in _ = try engine.record(.page(page)) }
    }
}
