// Decides what opening a store with a schema means: nothing to do, an event to be recorded, or a refusal. Nothing is
// stored here, so a refused schema leaves the store as it was.

package struct SchemaChange: Hashable, Sendable {
    /// What the store will know.
    package var declaration: Declaration
    /// What happens to the rows it has.
    package var steps: [Migration.Step]

    package init(_ declaration: Declaration, _ steps: [Migration.Step] = []) {
        self.declaration = declaration
        self.steps = steps
    }

    /// What a schema changes in a store; nil if the store knows it already.
    package init?(opening recorded: Declaration?, with schema: Schema) throws(SyncError) {
        try schema.check()
        if let recorded, recorded.version > schema.version {
            throw SyncError(
                .storeNewer,
                "the store has version \(recorded.version) of the app's schema, and this app has \(schema.version)",
                hint: "Nothing was changed. Open the store with a version of the app that is not older.")
        }
        let declared = Declaration(version: schema.version, isStrict: schema.isStrict, tables: schema.tables)
        if declared == recorded { return nil }
        let before = recorded?.version ?? 0
        self.init(declared, schema.migrations.filter { $0.version > before }.flatMap(\.steps))
    }

    /// What it changes in a store to refuse all tables but some, or none where none are named; nil if nothing.
    package init?(strictTables names: [String]?, over recorded: Declaration?) throws(SyncError) {
        let known = recorded ?? .none
        let tables =
            names?.map { name in known.tables.first { $0.name.isSpelled(as: name) } ?? TableSchema(name) }
            ?? known.tables
        try Schema(version: max(1, known.version), tables: tables).check()
        let declared = Declaration(version: known.version, isStrict: names != nil, tables: tables)
        if declared == known { return nil }
        self.init(declared)
    }

    /// Refuses a change that would lose something nobody asked to drop.
    package func check(over recorded: Declaration?, _ reader: StateReader) throws(SyncError) {
        let followed = steps.reduce(recorded ?? .none) { $0.following($1) }
        if let lost = followed.localColumns(missingIn: declaration).first {
            let columns = lost.columns.sorted().joined(separator: ", ")
            throw SyncError(
                .invalidConfiguration, "\(columns) of \(lost.table) would be local no longer",
                hint: "Declare it as before, or let a migration drop it: what it holds was never meant to be sent.")
        }
        var seen: Set<[UInt8]> = []
        for case .renameColumn(let table, _, _) in steps where seen.insert(Array(table.utf8)).inserted {
            try SchemaChange.checkNames(steps.filter { $0.table.isSpelled(as: table) }, table, reader)
        }
    }

    /// A rename never takes the place of a column that a row has.
    private static func checkNames(
        _ steps: [Migration.Step], _ table: String, _ reader: StateReader
    ) throws(SyncError) {
        var clash: (id: String, from: String, to: String)?
        do throws(StateError) {
            try reader.forEachEntry(of: table) { id, entry throws(StateError) in
                if clash != nil { return }
                var names = entry.columns
                for step in steps {
                    switch step {
                    case .dropColumn(_, let column): names.remove(column)
                    case .renameColumn(_, let from, let to):
                        guard names.remove(from) != nil else { continue }
                        if !names.insert(to).inserted { clash = (id, from, to) }
                    }
                }
            }
        } catch {
            throw SyncError(error)
        }
        guard let clash else { return }
        throw SyncError(
            .invalidConfiguration, "\(table).\(clash.from) can't be renamed: rows have a column \"\(clash.to)\" too",
            hint: "Drop one of the two in a step before the rename.", address: "\(table)/\(clash.id)")
    }
}

extension RowEntry {
    /// The names of all columns that are kept of it.
    fileprivate var columns: Set<String> {
        var names = Set(base?.columns ?? [])
        names.formUnion(pending?.overlay.columns ?? [])
        names.formUnion(local?.columns ?? [])
        return names
    }
}
