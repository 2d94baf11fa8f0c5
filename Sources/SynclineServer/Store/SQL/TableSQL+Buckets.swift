// The statements that read the rows of buckets. A row's columns say in which buckets it is, so each bucket's column has
// indexes of the table itself; a page over many buckets merges their orders and reads no row that it does not need.

import SynclineCore
import SynclineGround
import SynclineTables

extension TableSQL {
    // MARK: Indexes

    private static let prefix = "syncline_bucket_"

    /// The indexes that the buckets of a table need, by name.
    static func indexes(of buckets: [RuleBucket], _ table: ServedTable, _ dialect: SQLDialect) -> [String: String] {
        var indexes: [String: String] = [:]
        let source = table.definition.source
        // A bucket without any is the whole table, which has indexes.
        for case let column? in Set(buckets.map { $0.column ?? $0.conditions.first?.column }) {
            let id = Hexadecimal.text(Int(truncatingIfNeeded: hash64(of: "\(source)\n\(column)") >> 1), digits: 16)
            let system: [SystemColumn] = [.version, .updatedAt, .id]
            for (last, keys) in zip(system, [[.version], [.updatedAt, .id], [.id]] as [[SystemColumn]]) {
                let name = "\(prefix)\(id)_\(last.rawValue)"
                var columns = ([column] + keys.map(\.rawValue)).map { SQLDialect.quoted(table.source(of: $0)) }
                // SQLite reads the column of an index's condition, and so the row unless the index has it.
                if dialect == .sqlite { columns.append(SQLDialect.quoted("deleted")) }
                indexes[name] = """
                    CREATE INDEX IF NOT EXISTS \(SQLDialect.quoted(name)) ON \(SQLDialect.quoted(source)) \
                    (\(columns.joined(separator: ", "))) WHERE \(isThere(SQLDialect.quoted("deleted"), dialect))
                    """
            }
        }
        return indexes
    }

    /// Selects the names of the indexes of all buckets.
    static func indexNames(_ dialect: SQLDialect) -> SQLStatement {
        let (name, source) =
            dialect == .sqlite
            ? ("name", #""sqlite_master" WHERE "type" = 'index'"#)
            : ("indexname", #""pg_indexes" WHERE "schemaname" = current_schema()"#)
        return SQLStatement(prepared: "SELECT \"\(name)\" FROM \(source) AND \"\(name)\" LIKE '\(prefix)%'")
    }

    private static func isThere(_ column: String, _ dialect: SQLDialect) -> String {
        dialect == .sqlite ? "\(column) = 0" : "NOT \(column)"
    }

    // MARK: Conditions

    private func quoted(_ column: String) -> String { SQLDialect.quoted(schema.source(of: column)) }

    /// The rows that are in a bucket.
    private func isIn(_ bucket: RuleBucket, _ name: SQLText) -> SQLText {
        var all: [SQLText] = ["\(TableSQL.isThere(self.name(.deleted), dialect))"]
        if let column = bucket.column { all.append("\(quoted(column)) = \(name)") }
        return "\(all + bucket.conditions.map(condition), separator: " AND ")"
    }

    private func condition(_ condition: RuleCondition) -> SQLText {
        let column = quoted(condition.column)
        if case .string(let text) = condition.value { return "\(column) = \(.text(text))" }
        return "\(column) = \(.bool(condition.value == .bool(true)))"
    }

    /// The condition for the rows that a caller sees by a rule, be they deleted or not.
    func isSeen(by rule: RowRule, _ subject: String) -> SQLText {
        let alternatives = rule.alternatives.map { alternative -> SQLText in
            let names = RightsSQL.isReached(alternative, by: subject)
            let place = alternative.bucket.column.map { "\(quoted($0))\(names)" as SQLText }
            let all = [place].compactMap(\.self) + alternative.bucket.conditions.map(condition)
            return all.isEmpty ? "1 = 1" : "(\(all, separator: " AND "))"
        }
        return "(\(alternatives, separator: " OR "))"
    }

    private func place(_ axis: RightsWindow.Axis) -> String { name(axis == .number ? .version : .updatedAt) }

    private func value(_ place: Int64, _ axis: RightsWindow.Axis) -> SQLValue {
        // No row is older than the time that dates begin with.
        axis == .number ? .integer(place) : .time(max(place, 0))
    }

    // MARK: Reading

    /// The place of the column after those of a row: which span the row is of.
    var spanPlace: Int { schema.columns.count + TableSQL.firstColumn }

    /// The rows of open spans that changed within a window and since the caller had the right, in order.
    func changed(_ spans: ArraySlice<BucketSpan>, _ window: RightsWindow) -> SQLStatement {
        let column = place(window.axis)
        // Numbers are unique.
        let order: [SystemColumn] = window.axis == .number ? [.version] : [.updatedAt, .id]
        return merged(spans, order: order, limit: window.limit) { span in
            let begin = window.axis.value(of: span.interval.begin)
            var window = window
            if begin >= window.since { (window.since, window.sinceID) = (begin, nil) }
            return window.condition(column, name(.id)) { value($0, window.axis) }
        }
    }

    /// The first place of the rows that a condition holds for. Where one would ask only whether there are any, PostgreSQL
    /// reads the whole table if it expects many.
    private func first(_ place: String, _ condition: SQLText) -> SQLText {
        "(SELECT \(place) FROM \(table) WHERE \(condition) ORDER BY \(place) LIMIT 1)"
    }

    /// All rows at the places of a window, in order, up to a limit.
    func scanned(_ window: RightsWindow, limit: Int?) -> SQLStatement {
        let order = window.axis == .number ? name(.version) : "\(name(.updatedAt)), \(name(.id))"
        let condition = window.condition(place(window.axis), name(.id)) { value($0, window.axis) }
        return limited("SELECT \(selection) FROM \(table) WHERE \(condition) ORDER BY \(order)", limit)
    }

    /// All rows after an id, in order, and last whether each matches a filter: rows that do not must be counted, too.
    func scanned(after id: String?, _ filter: FilterSQL?, limit: Int?) -> SQLStatement {
        let (matches, rest): (SQLText, SQLText) = (
            filter?.sql.map { "(\($0))" } ?? "1", id.map { " WHERE \(name(.id)) > \(.text($0))" } ?? ""
        )
        return limited("SELECT \(selection), \(matches) FROM \(table)\(rest) ORDER BY \(name(.id))", limit)
    }

    func limited(_ sql: SQLText, _ limit: Int?) -> SQLStatement {
        var statement = SQLStatement(sql)
        (statement.isLarge, statement.limit) = (true, limit)
        if let limit { statement.add(" LIMIT \(.integer(Int64(limit)))") }
        return statement
    }

    /// Some rows, evenly spread over the table.
    var sample: SQLStatement {
        let count = RowScan.some
        let numbers = "[\((0..<count).map(String.init).joined(separator: ","))]"
        let place = TableSQL.places[1]
        return SQLStatement(
            prepared: """
                SELECT \(selection) FROM (SELECT "value" AS \(place) FROM json_each('\(numbers)')) CROSS JOIN \(table) \
                ON \(table).rowid = 1 + \(place) * ((SELECT max(rowid) FROM \(table)) - 1) / \(count - 1)
                """)
    }

    /// How many rows each span has that did not change since the caller gained the right, or that did, up to a limit.
    func counts(_ spans: ArraySlice<BucketSpan>, changed: Bool, _ window: RightsWindow, limit: Int) -> SQLStatement {
        let parts = zip(spans.indices, spans).map { index, span -> SQLText in
            """
            SELECT \(String(index)), (SELECT count(*) FROM (SELECT 1 FROM \(table) \
            WHERE \(isIn(span.bucket, "\(.text(span.name.text))")) \
            AND \(compares(span, changed ? ">" : "<=", window)) LIMIT \(.integer(Int64(limit)))) AS "some")
            """
        }
        return "\(parts, separator: " UNION ALL ")"
    }

    /// What is next of spans of one bucket in a window: the span's index, whether it has rows that did not change since the
    /// caller gained the right, the place of the first one that did, and the place at which the first row left.
    /// - Parameter withDepartures: Whether the last is asked for.
    func next(_ spans: [(index: Int, span: BucketSpan)], _ window: RightsWindow, withDepartures: Bool) -> SQLStatement {
        let begins = spans.map { window.axis.value(of: $0.span.interval.begin) }
        let starts = begins.map { max($0, window.since) }
        // A place from which the window has some rows.
        let isPart = begins.map { $0 < window.since && window.sinceID != nil }
        func places(_ all: [Int64]) -> SQLList {
            window.axis == .number ? .integers(all) : .times(all.map { max($0, 0) })
        }
        let rows = dialect.rows([
            .integers(spans.map { Int64($0.index) }), .texts(spans.map(\.span.name.text)), places(begins),
            places(starts),
            .flags(isPart),
        ])
        let bucket = spans[0].span
        let (place, isThere) = (place(window.axis), isIn(bucket.bucket, "s.c2"))
        var statement: SQLStatement = """
            SELECT s.c1, \(first(place, "\(isThere) AND \(place) <= s.c3")) IS NOT NULL, \
            \(first(place, "\(isThere) AND \(place) >= s.c4 AND (\(place) > s.c4 OR s.c5)"))
            """
        if withDepartures { statement.add(", \(RightsSQL.firstLeft("s.c2", bucket.number, window))") }
        statement.add(" FROM \(rows)")
        return statement
    }

    /// The rows of spans that begin at one place, and that did not change since, in the order of their ids.
    /// - Parameter isFew: Whether they are few enough to be sorted; others are read in this order, with those that did.
    func gained(_ spans: ArraySlice<BucketSpan>, after id: String?, isFew: Bool, _ window: RightsWindow) -> SQLStatement
    {
        let rest: SQLText = id.map { "\(name(.id)) > \(.text($0))" } ?? "1 = 1"
        guard let first = spans.first, !isFew, dialect == .sqlite else {
            return merged(spans, order: [.id], limit: window.limit, sorts: isFew) {
                "\(compares($0, "<=", window)) AND \(rest)"
            }
        }
        return merged(spans, order: [.id], limit: window.limit, checking: compares(first, "<=", window)) { _ in rest }
    }

    /// Compares the places of rows with the one at which a span begins.
    private func compares(_ span: BucketSpan, _ relation: String, _ window: RightsWindow) -> SQLText {
        "\(place(window.axis)) \(relation) \(value(window.axis.value(of: span.interval.begin), window.axis))"
    }

    /// The rows of several spans as one order.
    /// - Parameters:
    ///   - sorts: Whether they are sorted; otherwise each span's rows come from an index in this order.
    ///   - check: What must hold of each row, and does not choose the index.
    func merged(
        _ spans: ArraySlice<BucketSpan>, order: [SystemColumn], limit: Int, sorts: Bool = false,
        checking check: SQLText? = nil, _ condition: (BucketSpan) -> SQLText
    ) -> SQLStatement {
        // SQLite copies what it sorts, and each row on its way through a union: there these are only the rows' places.
        let isJoined = dialect == .sqlite && (spans.count > 1 || sorts)
        let keys = zip(order, TableSQL.places[3...]).map { "\(name($0)) AS \($1)" }.joined(separator: ", ")
        let checks: SQLText = check.map { "\(dialect == .sqlite ? "+" : "")(\($0))" } ?? "1 = 1"
        let parts = zip(spans.indices, spans).map { index, span -> SQLText in
            """
            SELECT \(isJoined ? "rowid AS \(TableSQL.places[1]), \(index) AS \(TableSQL.places[2]), \(keys)" : "\(selection), \(index)") \
            FROM \(table) WHERE \(isIn(span.bucket, "\(.text(span.name.text))")) AND \(condition(span)) \
            AND \(isJoined ? "1 = 1" : checks)
            """
        }
        // A union is ordered by the positions of its columns.
        let places = isJoined ? order.indices.map { String($0 + 3) } : order.map(TableSQL.place)
        let ordered: SQLText = "\(parts, separator: " UNION ALL ") ORDER BY \(places.joined(separator: ", "))"
        let page: SQLText = " LIMIT \(.integer(Int64(limit)))"
        var statement: SQLStatement = "\(ordered)\(page)"
        if isJoined {
            // Without a limit, SQLite would not keep the order.
            let rows: SQLText = check == nil ? "\(ordered)\(page)" : "\(ordered) LIMIT -1"
            let rest: SQLText = check == nil ? "" : " WHERE \(checks)\(page)"
            statement = """
                SELECT \(selection), \(TableSQL.places[2]) FROM (\(rows)) \
                CROSS JOIN \(table) ON \(table).rowid = \(TableSQL.places[1])\(rest)
                """
        }
        (statement.isLarge, statement.limit) = (true, limit)
        return statement
    }

    /// The position among the selected columns.
    private static func place(_ column: SystemColumn) -> String {
        column == .id ? "2" : column == .updatedAt ? "4" : "5"
    }

    /// Names of a row's place in SQLite. No column can have one of them.
    private static let places = ["rowid", "syncline_place", "syncline_span", "syncline_key", "syncline_id"]

    /// The ids of the rows that were there when a right ended, and still are.
    func lost(_ span: BucketSpan, after id: String?, limit: Int) -> SQLStatement {
        let rest: SQLText = id.map { " AND \(name(.id)) > \(.text($0))" } ?? ""
        let end = span.interval.end?.change ?? .max
        return """
            SELECT \(name(.id)) FROM \(table) WHERE \(isIn(span.bucket, "\(.text(span.name.text))"))\(rest) \
            AND EXISTS (SELECT 1 FROM "syncline_stays" AS "stay" WHERE "stay"."bucket" = \(.integer(span.number)) \
            AND "stay"."id" = \(table).\(name(.id)) AND "stay"."left" IS NULL \
            AND "stay"."entered" < \(.integer(end))) \
            ORDER BY \(name(.id)) LIMIT \(.integer(Int64(limit)))
            """
    }

    /// Those of some names of a bucket where something happened since a window begins.
    func active(_ names: [String], of bucket: RuleBucket, _ number: Int64, _ window: RightsWindow) -> SQLStatement {
        let (name, place) = (#""names"."bucket""#, place(window.axis))
        let changed: SQLText = "\(isIn(bucket, "\(name)")) AND \(place) >= \(value(window.since, window.axis))"
        return """
            SELECT \(name) FROM (SELECT "value" AS "bucket" FROM \(dialect.rows(of: names))) AS "names" \
            WHERE \(first(place, changed)) IS NOT NULL \
            OR \(RightsSQL.hasLeft(name, number, window))
            """
    }

    /// The names of a bucket that has rows with numbers after one, up to another.
    func names(of bucket: RuleBucket, after change: Int64, through last: Int64) -> SQLStatement {
        let column = bucket.column.map(quoted) ?? "''"
        return """
            SELECT DISTINCT \(column) FROM \(table) WHERE \(name(.version)) > \(.integer(change)) \
            AND \(name(.version)) <= \(.integer(last)) AND \(isIn(bucket, "\(column)"))
            """
    }
}
