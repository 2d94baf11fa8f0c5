// A page of rows with the rows of other tables that are related to it, at one moment. The rows of each relation are found by
// one query, however many rows refer to them.

/// A relation from the rows of a page, or of another relation, to rows of a table.
package struct RowRelation: Sendable {
    /// What makes a row related to others.
    package enum Link: Sendable {
        /// The others refer to it by its id.
        case id(@Sendable ([StoredRow]) -> RowReferences)
        /// It has one of the values of the others in a column.
        case column(String, @Sendable ([StoredRow]) -> [Value])
    }

    /// The relation whose rows are followed; nil for the page.
    package var source: Int?
    /// The query for related rows, without the condition that they are related.
    package var query: RowQuery
    package var link: Link

    package init(from source: Int? = nil, to query: RowQuery, by link: Link) {
        (self.source, self.query, self.link) = (source, query, link)
    }

    /// A query with a window shows the same rows whatever they are related to.
    private var hasWindow: Bool { query.top != nil || query.skip != 0 }

    /// What rows are related by.
    func values(of rows: [StoredRow]) -> (column: String, values: [Value], references: RowReferences) {
        switch link {
        case .id(let refer):
            let references = refer(rows)
            return ("id", references.values, references)
        case .column(let column, let values): return (column, values(rows), RowReferences())
        }
    }

    /// The query for rows that have one of some distinct values in a column.
    func query(_ column: String, _ values: [Value]) -> RowQuery {
        if hasWindow { return query }
        var query = query
        let isRelated = FilterExpression.oneOf(.column(column), values.map { .literal($0) })
        query.filter = query.filter.map { .and($0, isRelated) } ?? isRelated
        return query
    }

    /// Returns the rows that are related to others, and how those refer to them.
    fileprivate func rows(
        relatedTo others: [StoredRow], _ reader: StateReader
    ) throws(SyncError) -> (rows: [StoredRow], references: RowReferences) {
        if case .id(let refer) = link, !hasWindow, try reader.idComparison == .exact {
            let references = refer(others)
            if references.isEmpty { return ([], references) }
            let run = try QueryRun(reader, query, among: references.keys(of: query.table))
            return (try run.rows().rows, references)
        }
        let (column, values, references) = values(of: others)
        let distinct = values.distinct.values
        return (distinct.isEmpty ? [] : try reader.run(query(column, distinct)).rows, references)
    }
}

/// A page, and the rows of each relation; of a query with a window all that it shows.
package struct RelatedRows: Sendable {
    package var page: QueryResult
    package var related: [[StoredRow]]
    /// How the rows that are followed refer to those of each relation by their ids. This follows from the rows.
    package var references: [RowReferences]
}

extension RelatedRows: Hashable {
    package static func == (left: RelatedRows, right: RelatedRows) -> Bool {
        left.page == right.page && left.related == right.related
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(page)
        hasher.combine(related)
    }
}

extension StateReader {
    /// Runs a query and follows relations, each from the page or from an earlier one.
    package func run(_ page: RowQuery, _ relations: [RowRelation]) throws(SyncError) -> RelatedRows {
        var found = RelatedRows(page: try run(page), related: [], references: [])
        for relation in relations {
            let others = relation.source.map { found.related[$0] } ?? found.page.rows
            let (rows, references) = try relation.rows(relatedTo: others, self)
            found.related.append(rows)
            found.references.append(references)
        }
        return found
    }
}

extension [Value] {
    /// Each value once, and all of them encoded: strings that Unicode calls equivalent are different values.
    var distinct: (values: [Value], encoded: Set<[UInt8]>) {
        var (values, encoded): ([Value], Set<[UInt8]>) = ([], [])
        for value in self where encoded.insert(value.encoded).inserted { values.append(value) }
        return (values, encoded)
    }
}
