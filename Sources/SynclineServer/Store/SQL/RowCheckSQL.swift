// The statements that find rows which would never reach a client, and number them.

import SynclineGround
import SynclineTables

extension TableSQL {
    /// The condition for the rows with a fault; nil if no row can have it.
    private func condition(_ fault: RowFault, _ numbers: NumberSource) -> String? {
        let isNumberFault = fault == .earlyNumber || fault == .lateNumber
        if schema.isOwn, !isNumberFault { return nil }
        let isRequired = { [schema] (column: SystemColumn) in schema.traits.required.contains(column.rawValue) }
        switch (fault, dialect) {
        case (.noID, .sqlite): return "typeof(\(name(.id))) <> '\(schema.idKind == .integer ? "integer" : "text")'"
        case (.noID, .postgres): return isRequired(.id) ? nil : "\(name(.id)) IS NULL"
        case (.noTime, .sqlite): return "\(SQLDialect.momentFunction)(\(name(.updatedAt))) IS NULL"
        // Conditions that an index can serve.
        case (.noTime, .postgres):
            let time = name(.updatedAt)
            return "\(time) < '0001-01-01' OR \(time) >= '10000-01-01'"
                + (isRequired(.updatedAt) ? "" : " OR \(time) IS NULL")
        case (.noDeleted, _) where !schema.systemColumns.contains(.deleted): return nil
        case (.noDeleted, .sqlite): return "typeof(\(name(.deleted))) <> 'integer' OR \(name(.deleted)) NOT IN (0, 1)"
        case (.noDeleted, .postgres): return isRequired(.deleted) ? nil : "\(name(.deleted)) IS NULL"
        case (.noNumber, .sqlite): return "typeof(\(name(.version))) <> 'integer'"
        case (.noNumber, .postgres) where schema.traits.decimal.contains(SystemColumn.version.rawValue):
            return "(\(name(.version)) = trunc(\(name(.version)))) IS NOT TRUE"
        case (.noNumber, .postgres): return isRequired(.version) ? nil : "\(name(.version)) IS NULL"
        case (.earlyNumber, _): return "\(name(.version)) <= 0"
        case (.lateNumber, _): return "\(name(.version)) > \(numbers.issued)"
        case (.sameNumber, _):
            if schema.traits.unique.contains(SystemColumn.version.rawValue) { return nil }
            let table = SQLDialect.quoted(schema.definition.source)
            return "\(name(.version)) IN (SELECT \(name(.version)) FROM \(table) GROUP BY 1 HAVING count(*) > 1)"
        }
    }

    /// Selects the place of each of some tables, and for each fault whether rows have it.
    /// - Parameter hasMark: Whether the server has issued numbers; without its own tables none is too late.
    static func rowCheck(
        _ tables: [TableSQL], _ numbers: NumberSource, hasMark: Bool
    ) -> SQLStatement {
        let selections = tables.enumerated().map { place, sql in
            let table = SQLDialect.quoted(sql.schema.definition.source)
            let flags = RowFault.allCases.map { fault in
                (fault == .lateNumber && !hasMark ? nil : sql.condition(fault, numbers)).map {
                    "EXISTS (SELECT 1 FROM \(table) WHERE \($0))"
                } ?? "1 = 0"
            }
            return "SELECT \(place), \(flags.joined(separator: ", "))"
        }
        return SQLStatement(prepared: selections.joined(separator: " UNION ALL "))
    }

    /// Selects the ids of rows that need a new number.
    func unnumbered(_ numbers: NumberSource, limit: Int) -> SQLStatement {
        let conditions = RowFault.allCases.filter(\.isNumbered).compactMap { condition($0, numbers) }
        let table = SQLDialect.quoted(schema.definition.source)
        return SQLStatement(
            prepared: "SELECT \(name(.id)) FROM \(table) WHERE \(name(.id)) IS NOT NULL "
                + "AND (\(conditions.joined(separator: " OR "))) LIMIT \(limit)")
    }

    func number(id: String, _ stamp: Stamp) -> SQLStatement {
        """
        UPDATE \(SQLDialect.quoted(schema.definition.source)) SET \(name(.version)) = \(.integer(stamp.change)), \
        \(name(.updatedAt)) = \(.time(stamp.time)) WHERE \(name(.id)) = \(untyped: .text(id))
        """
    }
}
