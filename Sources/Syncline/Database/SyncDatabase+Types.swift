// The types of columns, and the tables that never leave the device: declared by models, by a schema, or here.

public import SynclineCore
import SynclineGround

extension SyncDatabase {
    /// Declares the types of columns of a table. By its type a column is compared, sorted, grouped, added up and indexed,
    /// however its values are spelled. Rows stay as they are, and nothing is sent because of it.
    ///
    /// The same type again changes nothing. If a column has another type already, none of the columns is declared; a type
    /// changes in a migration: ``Migration/Step/setType(table:column:to:converting:)``.
    @concurrent
    public func declareColumns(table: String, _ columns: [String: ColumnType]) async throws(SyncError) {
        let typed = columns.sorted { $0.key < $1.key }.map { TypedColumn($0.key, $0.value) }
        try await declare([TypeDeclaration(table: table, columns: typed)])
    }

    /// Declares that a table never leaves the device: its rows are not pushed, and it can't be pulled. Apart from that it is
    /// like other tables, in the same transactions, history and live lists. An undo does not take its changes back, nor a
    /// transaction that has some.
    ///
    /// Throws if the table has rows already, or has been pulled. It stays so until a migration drops the table.
    @concurrent
    public func declareLocal(table: String) async throws(SyncError) {
        try await declare([TypeDeclaration(table: table, columns: [], isLocal: true)])
    }

    /// Returns the tables that never leave the device.
    public func localTables() throws(SyncError) -> [String] {
        try read { reader throws(SyncError) in try reader.types.localTables }
    }

    /// Returns the declared types of a table's columns.
    public func columnTypes(of table: String) throws(SyncError) -> [String: ColumnType] {
        let types = try read { reader throws(SyncError) in try reader.types(of: table) }
        return Dictionary(types.columns.map { ($0.name, $0.type) }) { $1 }
    }

    /// Declares types of columns; all of them, or none.
    package func declare(_ declarations: [TypeDeclaration]) async throws(SyncError) {
        let known = try read { reader throws(SyncError) in try reader.types }
        var hasNews = false
        for declaration in declarations where try isNew(declaration, known) { hasNews = true }
        guard hasNews else { return }
        try await perform { engine throws(SyncError) in
            for declaration in declarations { try engine.declare(declaration) }
        }
    }

    func isNew(_ declaration: TypeDeclaration, _ known: TypeCatalog) throws(SyncError) -> Bool {
        try checkDeclared(declaration.table)
        return try declaration.news(over: known[declaration.table]) != nil
    }
}

extension StoreEngine {
    /// Records types of columns that are new.
    func declare(_ declaration: TypeDeclaration) throws(SyncError) {
        try projector.check(table: declaration.table)
        guard let news = try declaration.news(over: projector.state.types[declaration.table]) else { return }
        try news.check(reader)
        try record(.typed(news))
    }
}

/// Which models declared which columns, in this process.
struct DeclaringModels {
    private var names: [[ExactString]: String] = [:]

    mutating func add(_ model: String, _ declaration: TypeDeclaration) {
        for column in declaration.columns
        where names[[ExactString(declaration.table), ExactString(column.name)]] == nil {
            names[[ExactString(declaration.table), ExactString(column.name)]] = model
        }
    }

    /// The error with the names of both models, if two disagree about a column.
    func explaining(
        _ error: SyncError, _ declaration: TypeDeclaration, _ model: String, _ known: TableTypes
    ) -> SyncError {
        guard error.code == .invalidConfiguration else { return error }
        let column = declaration.columns.first { column in
            ![.any, column.type].contains(known[column.name])
        }
        guard let column else { return error }
        let (table, name) = (declaration.table, column.name)
        let other = names[[ExactString(table), ExactString(name)]].map { "\($0) declares it" } ?? "it was declared"
        return SyncError(
            .invalidConfiguration,
            "\(model).\(name) is \(column.type.rawValue), and \(other) as \(known[name].rawValue) in \(table)",
            hint: "Give both models one type, or change the type in a migration.")
    }
}
