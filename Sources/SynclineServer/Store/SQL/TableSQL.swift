// The statements that read and write a table's rows, made from its schema. Values are bound, never written. SQL strings
// that do not depend on the request are made once.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// A table's statements.
final class TableSQL: Sendable {
    let schema: ServedTable
    let dialect: SQLDialect
    let table: String
    let selection: String
    private let insertion: String
    private let newInsertion: String
    private let changing: String
    private let byID: String
    private let names: [SystemColumn: String]
    /// The system columns that an insert sets, in order, and those that an update sets.
    let inserted: [SystemColumn]
    let updated: [SystemColumn]

    init(_ schema: ServedTable, _ dialect: SQLDialect) {
        self.schema = schema
        self.dialect = dialect
        table = SQLDialect.quoted(schema.definition.source)
        selection = TableSQL.selection(schema)
        names = Dictionary(
            uniqueKeysWithValues: SystemColumn.allCases.map { ($0, SQLDialect.quoted(schema.source(of: $0))) })
        inserted = TableSQL.stamped(schema)
        updated = TableSQL.restamped(schema)
        insertion = TableSQL.insertion(schema, schema.columns, dialect)
        newInsertion = insertion + " ON CONFLICT (\(SQLDialect.quoted(schema.source(of: .id)))) DO NOTHING"
        changing = TableSQL.changing(schema, schema.columns, dialect)
        byID =
            "SELECT \(selection) FROM \(table) WHERE \(SQLDialect.quoted(schema.source(of: .id))) = "
            + TableSQL.placeholder(1, .text(""), schema, dialect)
    }

    /// PostgreSQL must infer the type of a value if others have chosen the type of the column.
    private static func placeholder(
        _ number: Int, _ sample: SQLValue, _ schema: ServedTable, _ dialect: SQLDialect
    ) -> String {
        dialect.placeholder(number, for: schema.isOwn ? sample : .null)
    }

    func name(_ column: SystemColumn) -> String { names[column] ?? SQLDialect.quoted(schema.source(of: column)) }

    /// The selected columns of a row: the schema number, id, times, version, deleted mark, then the columns in order.
    private static func selection(_ schema: ServedTable) -> String {
        func name(_ column: SystemColumn) -> String { SQLDialect.quoted(schema.source(of: column)) }
        var parts = ["(SELECT \"schema\" FROM \"syncline_state\" WHERE \"one\" = 1)", name(.id)]
        for column in [SystemColumn.createdAt, .updatedAt] {
            parts.append(schema.systemColumns.contains(column) ? name(column) : name(.updatedAt))
        }
        parts.append(name(.version))
        parts.append(schema.systemColumns.contains(.deleted) ? name(.deleted) : "0")
        parts += schema.columns.map { SQLDialect.quoted(schema.source(of: $0.name)) }
        return parts.joined(separator: ", ")
    }

    /// - Parameter locks: Whether no other transaction may change the row before the end of this one.
    func row(id: String, locks: Bool = false) -> SQLStatement {
        SQLStatement(prepared: locks && mayLock ? byID + " FOR NO KEY UPDATE" : byID, values: [.text(id)])
    }

    /// Selects the ids of the rows that changed after a number, up to another.
    func changedIDs(after change: Int64, through last: Int64) -> SQLText {
        """
        SELECT \(name(.id)) FROM \(table) WHERE \(name(.version)) > \(.integer(change)) \
        AND \(name(.version)) <= \(.integer(last))
        """
    }

    /// Whether the server's role needs the right to change rows, and so may lock them.
    var mayLock: Bool {
        let table = schema.definition
        return table.permission(.update) != .disabled || table.softDelete && table.permission(.delete) != .disabled
    }

    /// Locks rows in the order of their ids.
    func lock(_ ids: [String]) -> SQLStatement {
        """
        SELECT 1 FROM \(table) WHERE \(name(.id)) = ANY (\(untyped: .text(SQLDialect.list(ids)))) \
        ORDER BY \(name(.id)) FOR NO KEY UPDATE
        """
    }

    /// The rows of a plan in order; the database applies the window if it evaluates the filter.
    /// - Parameter rules: Whether only rows that the caller sees.
    func list(_ plan: ListPlan, _ filter: FilterSQL?, rules: Bool = true) -> SQLStatement {
        var conditions = conditions(plan, filter, rules: rules)
        if let place = plan.after { conditions.append(after(place)) }
        let isExact = filter?.isExact ?? true
        let sql: SQLText =
            "SELECT \(selection) FROM \(table)\(TableSQL.where(conditions)) ORDER BY \(order(plan.order))"
        var statement = limited(sql, isExact ? plan.limit : nil)
        if isExact, plan.skip > 0 { statement.add(" OFFSET \(.integer(Int64(plan.skip)))") }
        return statement
    }

    /// The rows of some buckets after an id, in the order of ids.
    func list(after id: String?, _ filter: FilterSQL?, of buckets: ArraySlice<BucketSpan>, limit: Int) -> SQLStatement {
        let rest: SQLText = id.map { "\(name(.id)) > \(.text($0))" } ?? "1 = 1"
        return merged(buckets, order: [.id], limit: limit, checking: filter?.sql) { _ in rest }
    }

    /// The rows after an id that are not deleted, in the order of ids, as many as a sweep reads at a time.
    func sweep(after id: String?) -> SQLStatement {
        var conditions: [SQLText] = []
        if schema.systemColumns.contains(.deleted) {
            conditions.append(dialect == .sqlite ? "\(name(.deleted)) = 0" : "NOT \(name(.deleted))")
        }
        if let id { conditions.append("\(name(.id)) > \(untyped: .text(id))") }
        return """
            SELECT \(selection) FROM \(table)\(TableSQL.where(conditions)) ORDER BY \(name(.id)) \
            LIMIT \(String(TableSQL.sweepPortion))
            """
    }

    static let sweepPortion = 1000

    /// Selects the schema number, and how many rows there are.
    func count(_ plan: ListPlan, _ filter: FilterSQL?) -> SQLStatement {
        """
        SELECT (SELECT "schema" FROM "syncline_state"), count(*) \
        FROM \(table)\(TableSQL.where(conditions(plan, filter)))
        """
    }

    private static func `where`(_ conditions: [SQLText]) -> SQLText {
        conditions.isEmpty ? "" : " WHERE \(conditions, separator: " AND ")"
    }

    private func after(_ place: PagePlace) -> SQLText {
        guard let time = place.time else { return "\(name(.id)) > \(.text(place.id))" }
        return "(\(name(.updatedAt)), \(name(.id))) > (\(.time(time)), \(.text(place.id)))"
    }

    private func conditions(_ plan: ListPlan, _ filter: FilterSQL?, rules: Bool = true) -> [SQLText] {
        var conditions: [SQLText] = []
        if !plan.includesDeleted, schema.systemColumns.contains(.deleted) {
            // All rows together aren't read by an index of buckets.
            let sign = rules ? "" : "+"
            conditions.append(dialect == .sqlite ? "\(sign)\(name(.deleted)) = 0" : "NOT \(name(.deleted))")
        }
        if let own = ownership(plan.subject) { conditions.append(own) }
        if rules, let rule = schema.definition.rules.read {
            conditions.append(isSeen(by: rule, plan.subject ?? ""))
        }
        if let filter = filter?.sql { conditions.append("(\(filter))") }
        // A finer time is rounded down for clients.
        if let closed = plan.until {
            let (time, first) = (SQLValue.time(closed.time + 1), SQLValue.integer(closed.firstChange))
            conditions.append("(\(name(.updatedAt)) < \(time) OR \(name(.version)) <= \(first))")
        }
        return conditions
    }

    /// The condition for the rows of an owner, if the table's rows belong to users.
    private func ownership(_ owner: String?) -> SQLText? {
        guard let column = schema.definition.perUser else { return nil }
        return "\(SQLDialect.quoted(schema.source(of: column))) = \(untyped: .text(owner ?? ""))"
    }

    /// The order always ends with the id, so that pages over equal keys are stable.
    private func order(_ keys: [RowQuery.Key]) -> String {
        var parts: [String] = []
        var named: Set<ExactString> = []
        for key in keys {
            let name: String
            let kind: SQLDialect.SortKind
            var nulls = ""
            if let place = schema.place(ofAnyCase: key.column) {
                (name, kind) = (schema.columns[place].name, .init(schema.columns[place].type))
                nulls = dialect.nulls(isDescending: key.isDescending)
            } else if let system = SystemColumn(anyCase: key.column), schema.systemColumns.contains(system) {
                (name, kind) = (system.rawValue, .init(system))
            } else {
                continue
            }
            let source = schema.source(of: name)
            guard named.insert(ExactString(source)).inserted else { continue }
            let sorted = dialect.sortable(SQLDialect.quoted(source), kind, name, schema)
            parts.append(sorted + (key.isDescending ? " DESC" : "") + nulls)
        }
        if !named.contains(schema.source(of: .id)) { parts.append(name(.id)) }
        return parts.joined(separator: ", ")
    }

    func changes(_ plan: ChangePlan) -> SQLStatement {
        limited("SELECT \(selection)\(changed(plan)) ORDER BY \(feedOrder)", plan.limit)
    }

    /// Numbers are unique only in tables that the server made.
    private var feedOrder: String { schema.isOwn ? name(.version) : "\(name(.version)), \(name(.id))" }

    func changeCount(_ plan: ChangePlan) -> SQLStatement {
        "SELECT count(*)\(changed(plan))"
    }

    private func changed(_ plan: ChangePlan) -> SQLText {
        var conditions: [SQLText] = ["\(name(.version)) > \(.integer(plan.since))"]
        if let id = plan.sinceID {
            conditions = ["(\(name(.version)), \(name(.id))) > (\(.integer(plan.since)), \(untyped: .text(id)))"]
        }
        if let until = plan.until { conditions.append("\(name(.version)) <= \(.integer(until))") }
        if let own = ownership(plan.subject) { conditions.append(own) }
        return " FROM \(table)\(TableSQL.where(conditions))"
    }

    /// 1 if rows were changed after the number that is the first value, and up to the second one, otherwise 0. The
    /// largest number is an index's last entry, so the database never looks at other rows.
    private var isChanged: String {
        let (after, until) = (dialect.placeholder(1, for: .integer(0)), dialect.placeholder(2, for: .integer(0)))
        var latest = ["(SELECT max(\(name(.version))) FROM \(table) WHERE \(name(.version)) <= \(until))"]
        if !schema.definition.softDelete {
            latest.append(
                """
                (SELECT max("change") FROM "syncline_tombstones" \
                WHERE "table" = \(schema.definition.name.quoted(by: "'")) AND "change" <= \(until))
                """)
        }
        return "CASE WHEN \(latest.map { "\($0) > \(after)" }.joined(separator: " OR ")) THEN 1 ELSE 0 END"
    }

    /// Selects for each of some tables whether it was changed.
    static func areChanged(
        _ tables: [TableSQL], after change: Int64, through last: Int64
    ) -> SQLStatement {
        SQLStatement(
            prepared: "SELECT " + tables.map(\.isChanged).joined(separator: ", "),
            values: [.integer(change), .integer(last)])
    }

    // MARK: Writing

    /// The system columns that an insert sets, in order.
    private static func stamped(_ schema: ServedTable) -> [SystemColumn] {
        [.id, .createdAt, .updatedAt, .version, .deleted].filter { schema.systemColumns.contains($0) }
    }

    /// The system columns that an update sets.
    private static func restamped(_ schema: ServedTable) -> [SystemColumn] {
        stamped(schema).filter { $0 != .id && $0 != .createdAt }
    }

    private static func sample(_ column: SystemColumn) -> SQLValue {
        switch column {
        case .id: .text("")
        case .createdAt, .updatedAt: .time(0)
        case .version: .integer(0)
        case .deleted: .bool(false)
        }
    }

    private static func sample(_ type: ColumnType) -> SQLValue {
        switch type.form {
        case .string, .uuid: .text("")
        case .number, .decimal: .null
        case .boolean: .bool(false)
        case .date: .time(0)
        case .json: .json("")
        }
    }

    private static func insertion(_ schema: ServedTable, _ columns: [Column], _ dialect: SQLDialect) -> String {
        let system = stamped(schema)
        let names = system.map { schema.source(of: $0) } + columns.map { schema.source(of: $0.name) }
        let samples = system.map(sample) + columns.map { sample($0.type) }
        let places = samples.enumerated().map { placeholder($0 + 1, $1, schema, dialect) }
        return "INSERT INTO \(SQLDialect.quoted(schema.definition.source)) "
            + "(\(names.map(SQLDialect.quoted).joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))"
    }

    private static func changing(_ schema: ServedTable, _ columns: [Column], _ dialect: SQLDialect) -> String {
        let system = restamped(schema)
        let names = system.map { schema.source(of: $0) } + columns.map { schema.source(of: $0.name) }
        let samples = system.map(sample) + columns.map { sample($0.type) }
        // The first column is the id.
        let settings = zip(names, samples).enumerated().map { place, setting in
            "\(SQLDialect.quoted(setting.0)) = \(placeholder(place + 2, setting.1, schema, dialect))"
        }
        return "UPDATE \(SQLDialect.quoted(schema.definition.source)) SET \(settings.joined(separator: ", ")) "
            + "WHERE \(SQLDialect.quoted(schema.source(of: .id))) = \(placeholder(1, .text(""), schema, dialect))"
    }

    private func value(_ column: SystemColumn, _ row: TableRow, _ stamp: Stamp) -> SQLValue {
        switch column {
        case .id: .text(row.id)
        case .createdAt: .time(row.createdAt.milliseconds)
        case .updatedAt: .time(row.updatedAt.milliseconds)
        case .version: .integer(stamp.change)
        case .deleted: .bool(row.isDeleted)
        }
    }

    private func columns(_ row: TableRow) -> BoundColumns {
        BoundColumns(values: row.columns, columns: schema.columns)
    }

    /// The values of some columns, by their places.
    private func columns(_ row: TableRow, _ places: [Int]) -> BoundColumns {
        let (columns, values) = (places.map { schema.columns[$0] }, Array(row.columns.members))
        return BoundColumns(
            values: Row(RowShape(columns.map(\.name)), places.map { values[$0].value }), columns: columns)
    }

    /// Inserts a row. Adopted tables have defaults and columns that only the database sets: the statement names the
    /// columns in `places` only.
    func insert(_ row: TableRow, _ stamp: Stamp, only places: [Int]) -> SQLStatement {
        if schema.isOwn { return insert(insertion, row, stamp) }
        let columns = columns(row, places)
        return SQLStatement(
            prepared: TableSQL.insertion(schema, columns.columns, dialect),
            values: inserted.map { value($0, row, stamp) }, columns: columns)
    }

    /// Inserts a row if there is none with the id. Only for a table that a server made: adopted tables may have rules
    /// that this would hide.
    func insertNew(_ row: TableRow, _ stamp: Stamp) -> SQLStatement {
        insert(newInsertion, row, stamp)
    }

    private func insert(_ text: String, _ row: TableRow, _ stamp: Stamp) -> SQLStatement {
        SQLStatement(prepared: text, values: inserted.map { value($0, row, stamp) }, columns: columns(row))
    }

    /// Updates a row. What clients see of an adopted table's values may be less than what they are: the statement names
    /// only the columns in `places`.
    func update(_ row: TableRow, _ stamp: Stamp, only places: [Int]) -> SQLStatement {
        let values = [.text(row.id)] + updated.map { value($0, row, stamp) }
        if !schema.isOwn {
            let columns = columns(row, places)
            return SQLStatement(
                prepared: TableSQL.changing(schema, columns.columns, dialect), values: values, columns: columns
            )
        }
        return SQLStatement(prepared: changing, values: values, columns: columns(row))
    }

    func remove(id: String) -> SQLStatement {
        "DELETE FROM \(table) WHERE \(name(.id)) = \(untyped: .text(id))"
    }

    /// The live row with the id of a tombstone; if rows belong to users, a row of the same user.
    var rowOfTombstone: String {
        var text =
            #"SELECT 1 FROM \#(table) AS "live" WHERE "live".\#(name(.id)) = "syncline_tombstones"."id"\#(tombstoneCast)"#
        if let owner = schema.definition.perUser {
            text +=
                #" AND "live".\#(SQLDialect.quoted(schema.source(of: owner))) = "syncline_tombstones"."owner"\#(dialect.byBytes)"#
        }
        return text
    }

    private var tombstoneCast: String {
        switch (dialect, schema.idKind) {
        case (.sqlite, _): ""
        // The two columns may have different collations.
        case (.postgres, .text): dialect.byBytes
        case (.postgres, .uuid): "::uuid"
        case (.postgres, .integer): "::bigint"
        }
    }

    /// Selects the ids, numbers and times of a portion of the tombstones of changes in a time, in order.
    func tombstones(from start: Int64?, before end: Int64) -> SQLStatement {
        var conditions = [isTombstone(before: end, through: .max)]
        if let start { conditions.append("\(name(.updatedAt)) >= \(.time(start))") }
        return """
            SELECT \(name(.id)), \(name(.version)), \(name(.updatedAt)) FROM \(table)\(TableSQL.where(conditions)) \
            ORDER BY \(name(.updatedAt)), \(name(.id)) LIMIT \(String(StateSQL.portion))
            """
    }

    /// Removes a row if it is a tombstone of a change up to a time and a number.
    func purge(id: String, before time: Int64, through change: Int64) -> SQLStatement {
        """
        DELETE FROM \(table) WHERE \(name(.id)) = \(untyped: .text(id)) AND \(isTombstone(before: time, through: change))
        """
    }

    private func isTombstone(before time: Int64, through change: Int64) -> SQLText {
        """
        \(name(.deleted))\(dialect == .sqlite ? " = 1" : "") AND \(name(.updatedAt)) < \(.time(time)) \
        AND \(name(.version)) <= \(.integer(change))
        """
    }

    // MARK: Reading

    /// The place of a row's first column after the system columns.
    static let firstColumn = 6

    /// The row that a database returned.
    func row(_ values: any SQLRow) -> TableRow {
        var columns = ByteWriter(capacity: 256)
        for (place, column) in schema.columns.enumerated() {
            values.encode(place + TableSQL.firstColumn, as: column.type, into: &columns)
        }
        return TableRow(
            id: values.value(1).text, columns: Row(shape: schema.shape, bytes: columns.bytes),
            createdAt: values.instant(2), updatedAt: values.instant(3),
            version: RowVersion.text(values.value(4).integer), isDeleted: values.value(5).integer != 0)
    }

    /// The catalogue's number at the moment of a row.
    func catalogue(_ values: any SQLRow) -> Int64 { values.value(0).integer }
}

extension SQLValue {
    var text: String {
        switch self {
        case .text(let text), .json(let text), .decimal(let text), .uuid(let text): text
        case .integer(let number): String(number)
        default: ""
        }
    }

    var integer: Int64 {
        switch self {
        case .integer(let number): number
        case .bool(let flag): flag ? 1 : 0
        case .double(let number): Int64(exactly: number) ?? 0
        case .decimal(let text): Double(text).flatMap { Int64(exactly: $0) } ?? 0
        default: 0
        }
    }

    /// In whole milliseconds, rounded down, as clients see it.
    var instant: Timestamp.Instant {
        switch self {
        case .text(let text): .init(milliseconds: Timestamp(stored: text)?.instant.milliseconds ?? 0)
        case .date(let instant): .init(milliseconds: instant.milliseconds)
        default: .init(seconds: 0)
        }
    }
}
