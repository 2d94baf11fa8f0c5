// A page of rows and what is related to it, kept up to date together: all of them always describe the same state. The query
// of a relation is replaced when other rows are referred to.

package struct LiveRelations: LiveContent {
    /// A relation, and what is known of it.
    private struct Branch {
        let relation: RowRelation
        /// The rows that may be related; nil if no row refers to one.
        var window: LiveWindow?
        /// What they are related by, encoded.
        var known: Set<[UInt8]> = []
        var references = RowReferences()

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

    package var result: RelatedRows {
        RelatedRows(page: page.result, related: branches.map(\.rows), references: branches.map(\.references))
    }

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
        let (column, values, references) = relation.values(of: rows)
        let new = values.distinct
        branches[index].references = references
        if new.encoded == branches[index].known { return false }
        drop(index)
        if new.values.isEmpty { return true }
        var window = LiveWindow(relation.query(column, new.values), spare: spare)
        try window.load(reader)
        (branches[index].window, branches[index].known) = (window, new.encoded)
        return true
    }

    private mutating func drop(_ index: Int) {
        replaced += branches[index].window?.loads ?? 0
        (branches[index].window, branches[index].known) = (nil, [])
    }
}
