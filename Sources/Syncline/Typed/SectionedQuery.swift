// Lists in sections, by a property or by a computed value: `todos.order(by: \.text).sections(by: \.list)`.

import SynclineCore

/// The models of a query in sections, each with the models that have one value of a property or of an expression.
public struct SectionedQuery<Model: SyncModel, Key: Codable & Hashable & Sendable>: Sendable {
    /// The models with one value. A row that moves to another section leaves the identity of both as it is.
    public struct Section: Identifiable, Sendable {
        /// The value.
        public let key: Key
        /// How many rows have it, also beyond the limit of the query.
        public let count: Int
        /// Those that the query shows, in its order.
        public fileprivate(set) var models: [Model]

        public var id: Key { key }
    }

    fileprivate let query: SyncQuery<Model>
    fileprivate let key: Result<FilterExpression, SyncError>
    /// Returns the key of a model; nil if it is the value of the model's row.
    fileprivate let modelKey: (@Sendable (Model) -> Key)?

    /// Returns the sections of which the query shows models.
    @concurrent
    public func get() async throws(SyncError) -> [Section] {
        let rows = try query.rowQuery()
        try rows.check()
        var content = LiveSections(rows, by: try key.get())
        try content.load(try query.table.untyped.declaredReader)
        return try sections(content.result)
    }

    /// Observes the sections: yields them now, and again after each commit that changes them.
    public func observe() throws(SyncError) -> LiveResults<[Section], SyncError> {
        let (rows, key) = (try query.rowQuery(), try key.get())
        return query.table.untyped.observe({ LiveSections(rows, by: key) }) { () throws(SyncError) in
            try rows.check()
        }.map(sections)
    }

    private func sections(_ rows: LiveSections.Rows) throws(SyncError) -> [Section] {
        var counts: [Key: Int] = [:]
        for group in rows.counts {
            guard let value = group.key.first, case .integer(let count)? = group.values.first else { continue }
            // Values that the key can't have are of rows that the model can't decode.
            if let key = try? ValueDecoder.decode(Key.self, from: value) { counts[key, default: 0] += Int(count) }
        }
        var sections: [Section] = []
        var places: [Key: Int] = [:]
        for (row, value) in zip(rows.page.rows, rows.keys) {
            let found = try query.table.reporting { () throws(SyncError) in
                let model = try query.table.decode(row)
                return (model: model, key: try key(of: model, value, row))
            }
            guard let (model, key) = found else { continue }
            if let place = places[key] {
                sections[place].models.append(model)
            } else {
                places[key] = sections.count
                sections.append(Section(key: key, count: counts[key] ?? 0, models: [model]))
            }
        }
        return sections
    }

    private func key(of model: Model, _ value: Value, _ row: StoredRow) throws(SyncError) -> Key {
        if let modelKey { return modelKey(model) }
        do throws(SyncError) {
            return try ValueDecoder.decode(Key.self, from: value)
        } catch {
            throw SyncError(
                .invalidItem, "the row has no value for a section", hint: "Leave it out with a condition.",
                address: "\(query.table.name)/\(row.id)", cause: error)
        }
    }
}

extension ModelSource where Self: Sendable, Refined == SyncQuery<Model> {
    /// Returns the query in sections by the values of a property, in their order; within a section the order is that of
    /// the query. A limit is one of all sections together.
    public func sections<Key: Codable & Hashable & Sendable>(
        by property: KeyPath<Model, Key>
    ) -> SectionedQuery<Model, Key> {
        sections(by: property, .ascending)
    }

    // Not a default of the function above: the compiler would take the one with a closure instead.
    /// Returns the query in sections by the values of a property, in this direction.
    public func sections<Key: Codable & Hashable & Sendable>(
        by property: KeyPath<Model, Key>, _ direction: SortDirection
    ) -> SectionedQuery<Model, Key> {
        let column = ModelColumns<Model>.shared.name(of: property)
        let query = refined { $0.add(firstBy: column, direction) }
        let stored = StoredPath(property)
        return SectionedQuery(query: query, key: column.map { .column($0) }) { $0[keyPath: stored.path] }
    }

    /// Returns the query in sections by a computed value:
    /// `entries.order(by: \.date).sections(by: { $0.date.calendarDay(in: .current) })`. They come in the order of their first
    /// models in the query. A row without a value is an error, like one that the model can't decode.
    public func sections<Key: Codable & Hashable & Sendable>(
        by key: (Columns<Model>) -> ColumnExpression<Model, Key>
    ) -> SectionedQuery<Model, Key> {
        SectionedQuery(query: asQuery, key: key(Columns()).tree, modelKey: nil)
    }
}
