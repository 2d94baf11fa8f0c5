// PostgreSQL's description of tables and of itself, read from its catalogue: for any number of tables with one query
// each for columns, keys and triggers.

import SynclineTables

extension PostgresConnection {
    func tables(_ names: [String]) throws(StoreFailure) -> [String: DatabaseTable] {
        let list = SQLDialect.list(names)
        var tables: [String: DatabaseTable] = [:]
        try forEachRow(of: PostgresConnection.columns(list)) { row in
            let isNew = tables[row.value(0).text] == nil
            var table = tables[row.value(0).text] ?? DatabaseTable()
            if isNew {
                table.isView = !["r", "p"].contains(row.value(1).text)
                table.hasPolicies = row.value(2).integer != 0
                table.mayDelete = row.value(3).integer != 0
                table.mayAlter = row.value(4).integer != 0
            }
            table.columns.append(DatabaseColumn(row, from: 5))
            tables[row.value(0).text] = table
        }
        try forEachRow(of: PostgresConnection.keys(list)) { row in
            tables[row.value(0).text]?.keys.insert(row.value(1).text)
        }
        try forEachRow(of: PostgresConnection.triggers(list)) { row in
            tables[row.value(0).text]?.triggers.append(row.value(1).text)
        }
        return tables
    }

    /// A domain counts as the type on which it is based.
    private static func columns(_ names: String) -> SQLStatement {
        """
        SELECT c.relname::text, c.relkind::text, row_security_active(c.oid), \
        has_table_privilege(c.oid, 'DELETE'), pg_has_role(c.relowner, 'USAGE'), a.attname::text, \
        CASE coalesce(b.typtype, t.typtype) WHEN 'e' THEN 'enum' \
        ELSE format_type(coalesce(b.oid, t.oid), NULL) END, \
        a.attgenerated <> '' OR a.attidentity = 'a', a.attnotnull OR t.typnotnull, \
        a.atthasdef OR a.attidentity <> '' OR t.typdefault IS NOT NULL, \
        CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END, coalesce(o.collisdeterministic, true), \
        CASE WHEN o.oid IS NULL THEN 'C' WHEN o.collname = 'default' THEN d.locale \
        ELSE coalesce(o.collcollate, 'other') END IN ('C', 'POSIX'), \
        has_column_privilege(c.oid, a.attnum, 'SELECT'), has_column_privilege(c.oid, a.attnum, 'INSERT'), \
        has_column_privilege(c.oid, a.attnum, 'UPDATE'), \
        a.attidentity <> '' OR coalesce(pg_get_expr(f.adbin, f.adrelid) LIKE '%nextval(%', false) \
        FROM pg_class c \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema() \
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
        JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = t.typbasetype \
        LEFT JOIN pg_attrdef f ON f.adrelid = c.oid AND f.adnum = a.attnum \
        LEFT JOIN pg_collation o ON o.oid = a.attcollation \
        CROSS JOIN (SELECT CASE coalesce(to_jsonb(p)->>'datlocprovider', 'c') WHEN 'c' THEN p.datcollate \
        ELSE 'other' END AS locale FROM pg_database p WHERE p.datname = current_database()) d \
        WHERE c.relname = ANY (\(untyped: .text(names))::text[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
        ORDER BY c.relname, a.attnum
        """
    }

    private static func keys(_ names: String) -> SQLStatement {
        """
        SELECT c.relname::text, a.attname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema() \
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
        WHERE c.relname = ANY (\(untyped: .text(names))::text[]) AND i.indisunique AND i.indisvalid \
        AND i.indnkeyatts = 1 AND i.indpred IS NULL
        """
    }

    private static func triggers(_ names: String) -> SQLStatement {
        """
        SELECT c.relname::text, t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema() \
        WHERE c.relname = ANY (\(untyped: .text(names))::text[]) AND NOT t.tgisinternal ORDER BY t.tgname
        """
    }

    func facts() throws(StoreFailure) -> DatabaseFacts {
        let statement: SQLStatement = """
            SELECT 'PostgreSQL ' || current_setting('server_version'), current_setting('server_encoding'), \
            current_user::text, \
            coalesce(has_schema_privilege(current_schema(), 'CREATE'), false), \
            current_setting('transaction_read_only') = 'on', pg_is_in_recovery(), \
            current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer, \
            current_setting('max_prepared_transactions')::integer
            """
        guard let values = try first(statement, count: 8) else { throw .broken("PostgreSQL does not describe itself") }
        return DatabaseFacts(
            product: values[0].text, encoding: values[1].text, role: values[2].text,
            mayCreateTables: values[3].integer != 0, isReadOnly: values[4].integer != 0,
            isStandby: values[5].integer != 0, timeline: timeline(), connections: Int(values[6].integer),
            preparedTransactions: Int(values[7].integer))
    }

    /// Nil if the role may not know it.
    private func timeline() -> Int64? {
        let statement: SQLStatement = "SELECT timeline_id FROM pg_control_checkpoint()"
        return (try? first(statement, count: 1))?[0].integer
    }
}

extension DatabaseColumn {
    /// Reads the values that `columns` selects for a column.
    fileprivate init(_ row: any SQLRow, from first: Int) {
        self.init(row.value(first).text, row.value(first + 1).text)
        func flag(_ place: Int) -> Bool { row.value(first + place).integer != 0 }
        (isComputed, needsValue, hasDefault) = (flag(2), flag(3), flag(4))
        let decimals = row.value(first + 5).integer
        isFine = type.hasPrefix("timestamp") && !(0...3).contains(decimals)
        (isExact, isByBytes) = (flag(6), flag(7))
        (canSelect, canInsert, canUpdate) = (flag(8), flag(9), flag(10))
        countsByItself = flag(11)
    }
}
