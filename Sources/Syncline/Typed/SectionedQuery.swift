// Lists in sections: `todos.order(by: \.text).sections(by: \.list)`.

import SynclineCore

/// The models of a query in sections, each with the models that have one value of a property.
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

    /// The query, which sorts by the property first.
    fileprivate let query: SyncQuery<Model>
    fileprivate let column: Result<String, SyncError>
    fileprivate let key: @Sendable (Model) -> Key

    /// Returns the sections of which the query shows models.
    @concurrent
    public func get() async throws(SyncError) -> [Section] {
        let rows = try query.rowQuery()
        try rows.check()
        var content = LiveSections(rows, by: try column.get())
        try content.load(try query.table.untyped.declaredReader)
        return try sections(content.result)
    }

    /// Observes the sections: yields them now, and again after each commit that changes them.
    public func observe() throws(SyncError) -> LiveResults<[Section], SyncError> {
        let (rows, column) = (try query.rowQuery(), try column.get())
        return query.table.untyped.observe({ LiveSections(rows, by: column) }) { () throws(SyncError) in
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
        for model in try query.table.decode(rows.page.rows) {
            let key = key(model)
            if let place = places[key] {
                sections[place].models.append(model)
            } else {
                places[key] = sections.count
                sections.append(Section(key: key, count: counts[key] ?? 0, models: [model]))
            }
        }
        return sections
    }
}

extension ModelSource where Self: Sendable, Narrowed == SyncQuery<Model> {
    /// Returns the query in sections by the values of a property, in their order; within a section the order is that of
    /// the query. A limit is one of all sections together.
    public func sections<Key: Codable & Hashable & Sendable>(
        by property: any KeyPath<Model, Key> & Sendable, _ direction: SortDirection = .ascending
    ) -> SectionedQuery<Model, Key> {
        let column = ModelColumns<Model>.shared.name(of: property)
        return SectionedQuery(query: narrowed { $0.add(firstBy: column, direction) }, column: column) {
            $0[keyPath: property]
        }
    }
}
