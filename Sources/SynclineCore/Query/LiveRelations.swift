// A page of rows, and the rows of other tables that are related to it, kept up to date together: all of them always describe
// the same state. The rows of each relation are found by one query, however many rows refer to them, and that query is
// replaced when other rows are referred to.

import SynclineGround

/// A relation from the rows of a page, or of another relation, to rows of a table.
package struct RowRelation: Sendable {
    /// The relation whose rows are followed; nil for the page.
    package var source: Int?
    /// The query for related rows, without the condition that they are related.
    package var query: RowQuery
    /// A row is related if it has one of the keys there.
    package var column: String
    /// The keys of rows that are followed.
    package var keys: @Sendable ([StoredRow]) -> [Value]

    package init(
        from source: Int? = nil, to query: RowQuery, by column: String,
        keys: @escaping @Sendable ([StoredRow]) -> [Value]
    ) {
        self.source = source
        self.query = query
        self.column = column
        self.keys = keys
    }
}

package struct LiveRelations: LiveContent {
    /// The page, and the rows of each relation; of a query with a window all that it shows.
    package struct Rows: Hashable, Sendable {
        package var page: QueryResult
        package var related: [[StoredRow]]
    }

    /// A relation, and what is known of it.
    private struct Branch {
        let relation: RowRelation
        /// The rows that may be related; nil if no row refers to one.
        var window: LiveWindow?
        /// What they have in the column, encoded: strings that Unicode calls equivalent are different values.
        var known: Set<[UInt8]> = []

        var rows: [StoredRow] { window?.result.rows ?? [] }
    }

    private var page: LiveWindow
    private var branches: [Branch]
    private let spare: Int?
    /// How many queries of windows that were replaced were run.
    private var replaced = 0

    /// - Parameters:
    ///   - relations: Each follows the page or an earlier one.
    ///   - spare: See `LiveWindow`.
    package init(page: RowQuery, _ relations: [RowRelation], spare: Int? = nil) {
        self.page = LiveWindow(page, spare: spare)
        branches = relations.map { Branch(relation: $0) }
        self.spare = spare
    }

    package var tables: [String]? {
        branches.reduce(page.tables ?? []) { all, branch in
            .joined(.joined(all, [branch.relation.query.table]), branch.relation.query.relatedTables)
        }
    }

    package var result: Rows { Rows(page: page.result, related: branches.map(\.rows)) }

    /// How many times a query was run.
    package var loads: Int { branches.reduce(page.loads + replaced) { $0 + ($1.window?.loads ?? 0) } }

    package mutating func load(_ reader: StateReader) throws(SyncError) {
        try page.load(reader)
        for index in branches.indices {
            drop(index)
            try follow(index, reader)
        }
    }

    package mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
        let isPageChanged = try page.update(changes)
        var areChanged = [Bool](repeating: false, count: branches.count)
        for index in branches.indices {
            areChanged[index] = try branches[index].window?.update(changes) ?? false
            if branches[index].relation.source.map({ areChanged[$0] }) ?? isPageChanged,
                try follow(index, changes.after)
            {
                areChanged[index] = true
            }
        }
        return isPageChanged || areChanged.contains(true)
    }

    /// Replaces the query of a relation if other rows are referred to than before. Returns whether it did.
    @discardableResult
    private mutating func follow(_ index: Int, _ reader: StateReader) throws(SyncError) -> Bool {
        let relation = branches[index].relation
        let rows = relation.source.map { branches[$0].rows } ?? page.result.rows
        var (new, choices): (Set<[UInt8]>, [FilterExpression]) = ([], [])
        for key in relation.keys(rows) where new.insert(key.encoded).inserted { choices.append(.literal(key)) }
        if new == branches[index].known { return false }
        drop(index)
        if choices.isEmpty { return true }
        let isRelated = FilterExpression.oneOf(.column(relation.column), choices)
        var query = relation.query
        // A query with a window shows the same rows whatever they are related to.
        if query.top == nil, query.skip == 0 { query.filter = query.filter.map { .and($0, isRelated) } ?? isRelated }
        var window = LiveWindow(query, spare: spare)
        try window.load(reader)
        (branches[index].window, branches[index].known) = (window, new)
        return true
    }

    private mutating func drop(_ index: Int) {
        replaced += branches[index].window?.loads ?? 0
        (branches[index].window, branches[index].known) = (nil, [])
    }
}
