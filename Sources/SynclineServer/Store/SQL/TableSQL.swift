// The statements that read and write a table's rows, made of its schema. Values are bound, never written.

import SynclineCore
import SynclineWire

/// A table's statements.
struct TableSQL {
    let schema: TableSchema
    let dialect: SQLDialect

    init(_ schema: TableSchema, _ dialect: SQLDialect) {
        self.schema = schema
        self.dialect = dialect
    }

    private var table: String { SQLDialect.quoted(schema.definition.source) }
    private func name(_ column: SystemColumn) -> String { SQLDialect.quoted(schema.source(of: column)) }

    /// What a row is read by: the number of the schema, id, times, version, mark, then the columns in order.
    private var selection: String {
        var parts = ["(SELECT \"schema\" FROM \"syncline_state\")", name(.id)]
        for column in [SystemColumn.createdAt, .updatedAt] {
            parts.append(schema.systemColumns.contains(column) ? name(column) : name(.updatedAt))
        }
        parts.append(name(.version))
        parts.append(schema.systemColumns.contains(.deleted) ? name(.deleted) : "0")
        parts += schema.columns.map { SQLDialect.quoted(schema.source(of: $0.name)) }
        return parts.joined(separator: ", ")
    }

    func row(id: String) -> SQLStatement {
        var statement = SQLStatement(dialect, "SELECT \(selection) FROM \(table) WHERE \(name(.id)) = ")
        statement.add(.text(id))
        return statement
    }

    /// The rows of a plan in order; the window is the database's where the filter is.
    func list(_ plan: ListPlan, _ filter: FilterSQL?) -> SQLStatement {
        var statement = SQLStatement(dialect, "SELECT \(selection) FROM \(table)")
        addConditions(plan, filter, to: &statement)
        statement.add(" ORDER BY \(order(plan.order))")
        guard filter?.isExact ?? true else {
            statement.isEndless = true
            return statement
        }
        statement.add(" LIMIT ")
        statement.add(.integer(Int64(plan.limit)))
        if plan.skip > 0 {
            statement.add(" OFFSET ")
            statement.add(.integer(Int64(plan.skip)))
        }
        return statement
    }

    func count(_ plan: ListPlan, _ filter: FilterSQL?) -> SQLStatement {
        var statement = SQLStatement(dialect, "SELECT count(*) FROM \(table)")
        addConditions(plan, filter, to: &statement)
        return statement
    }

    private func addConditions(_ plan: ListPlan, _ filter: FilterSQL?, to statement: inout SQLStatement) {
        var word = " WHERE "
        if !plan.includesDeleted, schema.systemColumns.contains(.deleted) {
            statement.add(word + (dialect == .sqlite ? "\(name(.deleted)) = 0" : "NOT \(name(.deleted))"))
            word = " AND "
        }
        if let column = schema.definition.perUser {
            statement.add("\(word)\(SQLDialect.quoted(schema.source(of: column))) = ")
            statement.add(.text(plan.owner ?? ""))
            word = " AND "
        }
        guard let filter else { return }
        let before = statement
        statement.add(word + "(")
        if filter.add(to: &statement) { statement.add(")") } else { statement = before }
    }

    /// Always down to the id, so that pages over equal keys do not waver.
    private func order(_ keys: [Query.Key]) -> String {
        var parts: [String] = []
        var named: Set<String> = []
        for key in keys {
            let source: String
            var mayBeNull = false
            if let place = schema.place(ofAnyCase: key.column) {
                source = schema.source(of: schema.columns[place].name)
                mayBeNull = true
            } else if let system = SystemColumn(anyCase: key.column), schema.systemColumns.contains(system) {
                source = schema.source(of: system)
            } else {
                continue
            }
            guard named.insert(source).inserted else { continue }
            let nulls = mayBeNull ? dialect.nulls(isDescending: key.isDescending) : ""
            parts.append(SQLDialect.quoted(source) + (key.isDescending ? " DESC" : "") + nulls)
        }
        if !named.contains(schema.source(of: .id)) { parts.append(name(.id)) }
        return parts.joined(separator: ", ")
    }

    func changes(_ plan: ChangePlan) -> SQLStatement {
        var statement = SQLStatement(dialect, "SELECT \(selection) FROM \(table) WHERE \(name(.version)) > ")
        statement.add(.integer(plan.since))
        if let until = plan.until {
            statement.add(" AND \(name(.version)) <= ")
            statement.add(.integer(until))
        }
        if let column = schema.definition.perUser {
            statement.add(" AND \(SQLDialect.quoted(schema.source(of: column))) = ")
            statement.add(.text(plan.owner ?? ""))
        }
        statement.add(" ORDER BY \(name(.version)) LIMIT ")
        statement.add(.integer(Int64(plan.limit)))
        return statement
    }

    // MARK: Writing

    func insert(_ row: TableRow, _ stamp: Stamp) -> SQLStatement {
        var names = [name(.id), name(.updatedAt), name(.version)]
        var values: [SQLValue] = [.text(row.id), .date(row.updatedAt.milliseconds), .integer(stamp.change)]
        if schema.systemColumns.contains(.createdAt) {
            names.append(name(.createdAt))
            values.append(.date(row.createdAt.milliseconds))
        }
        if schema.systemColumns.contains(.deleted) {
            names.append(name(.deleted))
            values.append(.bool(row.isDeleted))
        }
        for (column, member) in zip(schema.columns, row.columns.members) {
            names.append(SQLDialect.quoted(schema.source(of: column.name)))
            values.append(column.type.bound(member.value))
        }
        var statement = SQLStatement(dialect, "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (")
        for (index, value) in values.enumerated() {
            if index > 0 { statement.add(", ") }
            statement.add(value)
        }
        statement.add(")")
        return statement
    }

    func update(_ row: TableRow, _ stamp: Stamp) -> SQLStatement {
        var statement = SQLStatement(dialect, "UPDATE \(table) SET \(name(.updatedAt)) = ")
        statement.add(.date(row.updatedAt.milliseconds))
        statement.add(", \(name(.version)) = ")
        statement.add(.integer(stamp.change))
        if schema.systemColumns.contains(.deleted) {
            statement.add(", \(name(.deleted)) = ")
            statement.add(.bool(row.isDeleted))
        }
        for (column, member) in zip(schema.columns, row.columns.members) {
            statement.add(", \(SQLDialect.quoted(schema.source(of: column.name))) = ")
            statement.add(column.type.bound(member.value))
        }
        statement.add(" WHERE \(name(.id)) = ")
        statement.add(.text(row.id))
        return statement
    }

    func remove(id: String) -> SQLStatement {
        var statement = SQLStatement(dialect, "DELETE FROM \(table) WHERE \(name(.id)) = ")
        statement.add(.text(id))
        return statement
    }

    /// Removes tombstones of changes up to a time.
    func purge(before time: Int64) -> SQLStatement {
        var statement = SQLStatement(dialect, "DELETE FROM \(table) WHERE ")
        addTombstones(before: time, to: &statement)
        return statement
    }

    /// The latest change among the tombstones that `purge` removes.
    func latestTombstone(before time: Int64) -> SQLStatement {
        var statement = SQLStatement(dialect, "SELECT max(\(name(.version))) FROM \(table) WHERE ")
        addTombstones(before: time, to: &statement)
        return statement
    }

    private func addTombstones(before time: Int64, to statement: inout SQLStatement) {
        statement.add("\(name(.deleted))\(dialect == .sqlite ? " = 1" : "") AND \(name(.updatedAt)) < ")
        statement.add(.date(time))
    }

    // MARK: Reading

    /// The row that a database gave, and the number of the schema at that moment.
    func row(_ values: some SQLRow) -> (row: TableRow, schema: Int64) {
        let columns = schema.columns.enumerated().map { $1.type.value(values.value($0 + 6)) }
        let row = TableRow(
            id: values.value(1).text, columns: Row(schema.shape, columns), createdAt: values.value(2).instant,
            updatedAt: values.value(3).instant, version: RowVersion.text(values.value(4).integer),
            isDeleted: values.value(5).integer != 0)
        return (row, values.value(0).integer)
    }
}

extension SQLValue {
    var text: String {
        switch self {
        case .text(let text), .json(let text): text
        case .integer(let number): String(number)
        default: ""
        }
    }

    var integer: Int64 {
        switch self {
        case .integer(let number): number
        case .bool(let flag): flag ? 1 : 0
        case .double(let number): Int64(exactly: number) ?? 0
        default: 0
        }
    }

    var instant: Timestamp.Instant {
        switch self {
        case .text(let text): Timestamp(text)?.instant ?? .init(seconds: 0)
        case .date(let time): .init(milliseconds: time)
        default: .init(seconds: 0)
        }
    }
}
