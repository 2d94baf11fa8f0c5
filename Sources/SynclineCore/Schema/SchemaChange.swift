// Decides what opening a store with a schema requires: nothing, an event, or a refusal. Stores nothing, so a refused
// schema leaves the store unchanged.

import SynclineGround

package struct SchemaChange: Sendable {
    /// The new declaration of the store.
    package var declaration: Declaration
    /// The migration steps for the existing rows.
    package var steps: [Migration.Step]

    package init(_ declaration: Declaration, _ steps: [Migration.Step] = []) {
        self.declaration = declaration
        self.steps = steps
    }

    /// Returns what a schema changes in a store; nil if nothing.
    package init?(opening recorded: Declaration?, with schema: SyncSchema) throws(SyncError) {
        try schema.check()
        if let recorded, recorded.version > schema.version {
            throw SyncError(
                .storeNewer,
                "the store has version \(recorded.version) of the app's schema, and this app has \(schema.version)",
                hint: "Nothing was changed. Open the store with a version of the app that is not older.")
        }
        let declared = schema.declaration
        if declared == recorded { return nil }
        let before = recorded?.version ?? 0
        self.init(declared, schema.migrations.filter { $0.version > before }.flatMap(\.steps))
    }

    /// Returns the change that makes a store refuse all tables except the named ones, or none; nil if that changes
    /// nothing.
    package init?(strictTables names: [String]?, over recorded: Declaration?) throws(SyncError) {
        let known = recorded ?? .none
        let tables =
            names?.map { name in known.tables.first { $0.name.isSpelled(as: name) } ?? TableSchema(name) }
            ?? known.tables
        try SyncSchema(version: max(1, known.version), tables: tables).check()
        let declared = Declaration(version: known.version, isStrict: names != nil, tables: tables)
        if declared == known { return nil }
        if let table = declared.changedTables(since: known).first {
            throw SyncError(
                .invalidConfiguration, "the app's schema declares columns of \(table), so it must list the table",
                hint: "Add the table to the list.")
        }
        self.init(declared)
    }

    /// Whether existing rows may look different afterwards.
    package func rewritesRows(of recorded: Declaration?) -> Bool {
        !steps.isEmpty || !declaration.changedTables(since: recorded ?? .none).isEmpty
    }

    /// Throws if a change would lose something that was not dropped explicitly.
    package func check(over recorded: Declaration?, _ reader: StateReader) throws(SyncError) {
        let plain = steps.compactMap(\.plain)
        let followed = plain.reduce(recorded ?? .none) { $0.following($1) }
        if let lost = followed.localColumns(missingIn: declaration).first {
            let columns = lost.columns.sorted().map(\.text).joined(separator: ", ")
            throw SyncError(
                .invalidConfiguration, "\(columns) of \(lost.table) would no longer be local",
                hint: "Declare it as before, or drop it in a migration; its values were never meant to be sent.")
        }
        for case .dropTable(let table, let discardsPending) in steps where !discardsPending {
            try SchemaChange.checkNothingPending(table, reader)
        }
        var seen: Set<[UInt8]> = []
        let renamed = plain.compactMap { if case .renameColumn(let table, _, _) = $0 { table } else { nil } }
        for table in renamed + declaration.tables.filter({ WireNames($0) != nil }).map(\.name)
        where seen.insert(Array(table.utf8)).inserted {
            let steps = plain.filter { $0.table.isSpelled(as: table) }
            try checkNames(steps, table, from: recorded?.wireNames(of: table), reader)
        }
    }

    private static func checkNothingPending(_ table: String, _ reader: StateReader) throws(SyncError) {
        let pending = try PurgePlan(reader, table: table, filter: nil).pending
        if pending == 0 { return }
        throw SyncError(
            .pendingChanges, "\(pending) operations on \(table) were not pushed, and the schema drops the table",
            hint: "Nothing was changed. Open the store with the old schema and push, or let the step discard them.")
    }

    /// Throws if a rename would replace a column that a row has, or if a column has the server name of another.
    private func checkNames(
        _ steps: [SchemaStep], _ table: String, from before: WireNames?, _ reader: StateReader
    ) throws(SyncError) {
        let after = declaration.wireNames(of: table)
        var refusal: SyncError?
        try reader.forEachEntry(of: table) { id, entry throws(SyncError) in
            if refusal != nil { return }
            var names = entry.columns
            for step in steps {
                switch step {
                case .dropColumn(_, let column): names.remove(ExactString(column))
                case .renameColumn(_, let from, let to):
                    guard names.remove(ExactString(from)) != nil else { continue }
                    if !names.insert(ExactString(to)).inserted { refusal = SchemaChange.clash(table, id, from, to) }
                case .changeValues, .setType: break
                case .dropTable: names = []
                }
            }
            if let after, let name = names.sorted().map(\.text).first(where: { after.owner(of: $0) != nil }) {
                refusal = SchemaChange.taken(table, id, name, by: after.owner(of: name) ?? "")
            }
            if before != after, let frozen = entry.pending?.frozen, frozen.status == .inFlight,
                frozen.moved(from: before, to: after) == nil
            {
                refusal = SchemaChange.inexpressible(table, id)
            }
        }
        if let refusal { throw refusal }
    }

    private static func clash(_ table: String, _ id: String, _ from: String, _ to: String) -> SyncError {
        SyncError(
            .invalidConfiguration, "\(table).\(from) can't be renamed: rows have a column \"\(to)\" too",
            hint: "Drop one of the two in a step before the rename.", address: "\(table)/\(id)")
    }

    private static func taken(_ table: String, _ id: String, _ name: String, by owner: String) -> SyncError {
        SyncError(
            .invalidConfiguration,
            "rows have a column \"\(name)\", which is the name of \(table).\(owner) on the server",
            hint: "Rename it to \"\(owner)\" in a step, or drop it.", address: "\(table)/\(id)")
    }

    private static func inexpressible(_ table: String, _ id: String) -> SyncError {
        SyncError(
            .pendingChanges, "an operation may have reached the server under a name that now means another column",
            hint: "Nothing was changed. Open the store with the old schema and push.", address: "\(table)/\(id)")
    }
}

extension FrozenOperation {
    /// Returns the same operation under new names, so that it is sent unchanged; nil if the new names can't express
    /// it.
    func moved(from before: WireNames?, to after: WireNames?) -> FrozenOperation? {
        var copy = self
        guard let columns = WireNames.moved(columns, from: before, to: after) else { return nil }
        copy.columns = columns
        if let ancestor {
            guard let moved = WireNames.moved(ancestor, from: before, to: after) else { return nil }
            copy.ancestor = moved
        }
        if let tombstone = revival?.tombstone {
            guard let moved = WireNames.moved(tombstone, from: before, to: after) else { return nil }
            copy.revival = Revival(tombstone: moved)
        }
        return copy
    }
}

extension RowEntry {
    /// The names of all columns kept of it.
    fileprivate var columns: Set<ExactString> {
        [base, pending?.overlay, local].flatMap { $0?.columns ?? [] }.exact
    }
}
