// The app's schema as the store has recorded it, and the checks based on it.

import SegmentLog
public import SynclineCore

extension SyncDatabase {
    /// The schema the store has recorded; nil if none was ever declared.
    public var declaration: Declaration? { writer.current.declaration }

    /// Records the changes of the app's schema and applies them to the rows. Writes at most one event.
    func open(with schema: SyncSchema) async throws(SyncError) {
        try await migrate(to: schema)
        try await declare(schema.types)
    }

    private func migrate(to schema: SyncSchema) async throws(SyncError) {
        // Most openings change nothing and need no commit.
        guard let change = try SchemaChange(opening: declaration, with: schema) else { return }
        if change.rewritesRows(of: declaration) { try checkNoBranches(because: "the schema changes existing rows") }
        try await perform(.durable) { engine throws(SyncError) in
            guard let change = try SchemaChange(opening: engine.projector.declaration, with: schema) else { return }
            try engine.record(change)
        }
    }

    /// Makes the store refuse all tables except these, as a strict schema does; nil allows all tables again.
    package func setStrictTables(_ names: [String]?) async throws(SyncError) {
        try await perform { engine throws(SyncError) in
            let recorded = engine.projector.declaration
            if let change = try SchemaChange(strictTables: names, over: recorded) { try engine.record(change) }
        }
    }

    /// Throws if the store is strict and the table is not declared.
    func checkDeclared(_ table: String) throws(SyncError) {
        try Item.check(table: table)
        try declaration.check(table)
    }

    /// Throws if the table is not declared, or never leaves the device.
    func checkSynced(_ table: String) throws(SyncError) {
        try checkDeclared(table)
        guard try read({ reader throws(SyncError) in try reader.types.isLocal(table) }) else { return }
        throw SyncError(
            .invalidConfiguration, "the table \"\(table)\" never leaves the device",
            hint: "Do not name it in a push or a pull.")
    }
}

extension StoreEngine {
    fileprivate func record(_ change: SchemaChange) throws(SyncError) {
        try change.check(over: projector.declaration, reader)
        try record(.declared(change.declaration, steps: try change.steps.decided(reader)))
    }
}
