// Puts the rules of a configuration into force. A changed rule is one transaction with a number of its own: what callers
// saw by the old rule ended there, and what they see by the new one began there.

import SynclineTables
import SynclineWire

struct RightsInstaller {
    let definitions: [TableDefinition]
    let dialect: SQLDialect
    let numbers: NumberSource

    /// The rules that a database records, with their times. The plan and the rules for writes are the rule of the table
    /// without a name.
    private struct Recorded {
        let rules: [(table: String, text: String, interval: RightInterval)]

        func current(_ table: String) -> String? {
            rules.last { $0.table == table && $0.interval.end == nil }?.text
        }

        /// What writes keep up to date, and what they need, one line each.
        var plan: [Substring] { (current("") ?? "").split(separator: "\n") }

        /// The tables that have a part in the rules: each line begins with one.
        var tables: Set<String> { Set(plan.map { String($0.prefix { $0 != ":" && $0 != "(" }) }) }
    }

    private func recorded(_ connection: any SQLConnection) throws(StoreFailure) -> Recorded {
        let rules = try connection.all(RightsSQL.rules) { row in
            (table: row.value(0).text, text: row.value(1).text, interval: RightInterval(row, at: 2))
        }
        return Recorded(rules: rules)
    }

    private var plan: RightsPlan { RightsPlan(definitions) }

    /// Everything that writes keep up to date, and the rules that they need, one line each.
    private var planText: String {
        let plan = plan
        return definitions.flatMap { definition in
            let rights = plan[table: definition.name]
            let rules = definition.rules.all.filter { $0.setting != "read" }
            return rights.buckets.map { "\(definition.name): \($0.text)" } + rights.steps.map(\.text)
                + rules.map { "\(definition.name): \($0.setting) \($0.rule.text)" }
        }.sorted().joined(separator: "\n")
    }

    private func isInForce(_ recorded: Recorded) -> Bool {
        (recorded.current("") ?? "") == planText
            && definitions.allSatisfy { ($0.rules.read?.text ?? "") == recorded.current($0.name) ?? "" }
    }

    /// The rights of each table; nil if other rules are in force.
    private func rights(_ recorded: Recorded) -> [String: TableRights]? {
        guard isInForce(recorded) else { return nil }
        let plan = plan
        var rights: [String: TableRights] = [:]
        for definition in definitions {
            var table = plan[table: definition.name]
            table.terms = recorded.rules.filter { $0.table == definition.name }.flatMap { rule in
                RightsInstaller.alternatives(rule.text).map { RuleTerm($0, rule.interval) }
            }
            if table != TableRights() { rights[definition.name] = table }
        }
        return rights
    }

    private static func alternatives(_ rule: String) -> [RuleAlternative] { (try? RowRule(rule))?.alternatives ?? [] }

    /// The catalogue with the rights of its tables; if other rules are in force, without the tables that have a part in
    /// either.
    func complete(
        _ catalogue: StoreCatalogue, _ connection: any SQLConnection
    ) throws(StoreFailure) -> StoreCatalogue {
        let recorded = try recorded(connection)
        var catalogue = catalogue
        if let rights = rights(recorded) {
            catalogue.rights = rights
        } else {
            let (plan, others) = (plan, recorded.tables)
            catalogue.refuse(
                definitions.filter { definition in
                    !definition.rules.isEmpty || plan[table: definition.name] != TableRights()
                        || others.contains(definition.name)
                })
        }
        return catalogue
    }

    /// The same at a start, which puts the rules into force unless they are.
    func catalogue(
        _ database: any SQLDatabase, _ catalogue: StoreCatalogue, _ environment: any ServerEnvironment, installs: Bool
    ) throws(StoreFailure) -> StoreCatalogue {
        let isKnown = try database.read { connection throws(StoreFailure) in isInForce(try recorded(connection)) }
        if !isKnown, installs { try install(database, catalogue, environment) }
        return try database.read { connection throws(StoreFailure) in
            if isKnown || !installs { return try complete(catalogue, connection) }
            return try complete(SchemaInstaller.catalogue(connection, definitions, dialect), connection)
        }
    }

    private func install(
        _ database: any SQLDatabase, _ catalogue: StoreCatalogue, _ environment: any ServerEnvironment
    ) throws(StoreFailure) {
        let plan = plan
        for definition in definitions where plan[table: definition.name] != TableRights() {
            guard catalogue.tables[definition.name]?.schema.isOwn == false else { continue }
            throw SchemaInstaller.refusal(
                "rules-not-supported",
                "table \(definition.name) was not made by the server, so it can have no part in rules")
        }
        try database.write { connection throws(StoreFailure) in
            try connection.transaction(numbers.beginRules(dialect)) { () throws(StoreFailure) in
                let taking = numbers.stamp(1, now: environment.now(), clock: environment.databaseClock, dialect)
                guard let values = try connection.first(taking, count: 2), let change = numbers.taken(1, values[0]).last
                else { throw .broken("the server's own table is missing") }
                let stamp = Stamp(change: change, time: values[1].integer)
                try install(catalogue, stamp, environment.newEpoch(), connection)
                return ((), true)
            }
        }
    }

    private func install(
        _ catalogue: StoreCatalogue, _ stamp: Stamp, _ epoch: String, _ connection: any SQLConnection
    ) throws(StoreFailure) {
        let recorded = try recorded(connection)
        if isInForce(recorded) { return }
        let kept = Set(recorded.plan.map(String.init))
        let plan = plan
        var renewsEpoch = false
        var indexes: [String: String] = [:]
        for definition in definitions {
            let rights = plan[table: definition.name]
            let (old, new) = (recorded.current(definition.name) ?? "", definition.rules.read?.text ?? "")
            if old != new {
                // Later writes do not note which rows leave them.
                for bucket in RightsInstaller.alternatives(old).map(\.bucket) where !rights.buckets.contains(bucket) {
                    let number = RightsSQL.number(bucket, of: definition.name)
                    try connection.run(RightsSQL.leave(number, stamp))
                }
                try connection.run(RightsSQL.endRule(of: definition.name, stamp))
                if !new.isEmpty { try connection.run(RightsSQL.beginRule(new, of: definition.name, stamp)) }
                // What everybody saw has no times.
                if old.isEmpty || new.isEmpty, try hasRows(definition, connection) { renewsEpoch = true }
            }
            guard let statements = catalogue.tables[definition.name] else { continue }
            indexes.merge(TableSQL.indexes(of: rights.buckets, statements.schema, dialect)) { $1 }
            let buckets = rights.buckets.filter { !kept.contains("\(definition.name): \($0.text)") }
            let steps = rights.steps.filter { !kept.contains($0.text) }
            try begin(buckets, steps, statements, stamp, connection)
        }
        try index(indexes, connection)
        try connection.run(RightsSQL.endRule(of: "", stamp))
        try connection.run(RightsSQL.beginRule(planText, of: "", stamp))
        try connection.execute(#"UPDATE "syncline_state" SET "schema" = "schema" + 1"#)
        if !renewsEpoch { return }
        for statement in numbers.renew(epoch: epoch, dialect) { try connection.run(statement) }
    }

    /// Creates the indexes of buckets, and removes those that no rule needs any longer.
    private func index(_ indexes: [String: String], _ connection: any SQLConnection) throws(StoreFailure) {
        let known = try connection.all(TableSQL.indexNames(dialect)) { $0.value(0).text }
        for name in known where indexes[name] == nil { try connection.execute("DROP INDEX \(SQLDialect.quoted(name))") }
        for (_, statement) in indexes.sorted(by: { $0.key < $1.key }) { try connection.execute(statement) }
    }

    private func hasRows(_ definition: TableDefinition, _ connection: any SQLConnection) throws(StoreFailure) -> Bool {
        let table = SQLDialect.quoted(definition.source)
        return try connection.first("SELECT 1 FROM \(table) LIMIT 1", count: 1) != nil
    }

    /// Begins to keep buckets and steps up to date, from the rows that a table has.
    private func begin(
        _ buckets: [RuleBucket], _ steps: [RuleEdge], _ statements: TableSQL, _ stamp: Stamp,
        _ connection: any SQLConnection
    ) throws(StoreFailure) {
        if buckets.isEmpty, steps.isEmpty { return }
        let table = statements.schema.name
        for bucket in buckets {
            let number = RightsSQL.number(bucket, of: table)
            try connection.run(RightsSQL.leave(number, stamp))
        }
        for step in steps { try connection.run(RightsSQL.end(step, stamp)) }
        var (last, count): (String?, Int) = (nil, TableSQL.sweepPortion)
        while count == TableSQL.sweepPortion {
            let rows = try connection.all(statements.sweep(after: last)) { statements.row($0) }
            var pending = PendingRights()
            for row in rows {
                for bucket in buckets {
                    if let name = bucket.name(of: row) { pending.enter(bucket, of: table, name, row: row.id, stamp) }
                }
                for step in steps {
                    if let ends = step.ends(of: row) { pending.begin(step, ends, row: row.id, stamp) }
                }
            }
            try pending.store(connection, dialect)
            (last, count) = (rows.last?.id, rows.count)
        }
    }
}
