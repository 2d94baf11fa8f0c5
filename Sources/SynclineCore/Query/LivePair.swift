// A page of rows, and the rows of a table that are related to it, kept up to date together: both always describe the
// same state. The related rows are found by one query, however many rows the page has, and that query is replaced when
// the page refers to other rows.

import SynclineGround

package struct LivePair: LiveContent {
    /// The page, and the rows that are related to its rows; of a query with a window all that it shows.
    package struct Rows: Hashable, Sendable {
        package var page: QueryResult
        package var related: [StoredRow]
    }

    private let pageTable: String
    private var page: LiveWindow
    /// The query for related rows, without the condition that they are related.
    private let others: RowQuery
    private let column: String
    private let keys: @Sendable ([StoredRow]) -> [Value]
    private let spare: Int?
    /// The rows that may be related; nil if the page refers to none.
    private var related: LiveWindow?
    /// What they have in the column, encoded: strings that Unicode calls equivalent are different values.
    private var known: Set<[UInt8]> = []
    /// How many queries for related rows were replaced.
    private var replaced = 0

    /// - Parameters:
    ///   - column: A row is related if it has one of the keys there.
    ///   - keys: The keys of the rows of a page.
    ///   - spare: See `LiveWindow`.
    package init(
        page: RowQuery, others: RowQuery, column: String, spare: Int? = nil,
        keys: @escaping @Sendable ([StoredRow]) -> [Value]
    ) {
        pageTable = page.table
        self.page = LiveWindow(page, spare: spare)
        self.others = others
        self.column = column
        self.spare = spare
        self.keys = keys
    }

    /// The table of the related rows comes first: its changes belong to the query before, which the page may replace.
    package var tables: [String]? { areOfOneTable ? [pageTable] : [others.table, pageTable] }

    package var result: Rows { Rows(page: page.result, related: related?.result.rows ?? []) }

    /// How many times a query was run.
    package var loads: Int { page.loads + replaced + (related?.loads ?? 0) }

    package mutating func load(_ reader: StateReader) throws(SyncError) {
        try page.load(reader)
        drop()
        try follow(reader)
    }

    package mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool {
        let isOfPage = changes.table.hasSameBytes(as: pageTable)
        var isChanged = false
        if !isOfPage || areOfOneTable, try related?.update(changes) ?? false { isChanged = true }
        if isOfPage, try page.update(changes) {
            isChanged = true
            try follow(changes.after)
        }
        return isChanged
    }

    private var areOfOneTable: Bool { pageTable.hasSameBytes(as: others.table) }

    /// Replaces the query for related rows if the page refers to other rows than before.
    private mutating func follow(_ reader: StateReader) throws(SyncError) {
        var (new, choices): (Set<[UInt8]>, [FilterExpression]) = ([], [])
        for key in keys(page.result.rows) where new.insert(key.encoded).inserted { choices.append(.literal(key)) }
        if new == known { return }
        drop()
        if choices.isEmpty { return }
        let isRelated = FilterExpression.oneOf(.column(column), choices)
        var query = others
        // A query with a window shows the same rows whatever they are related to.
        if others.top == nil, others.skip == 0 { query.filter = others.filter.map { .and($0, isRelated) } ?? isRelated }
        var window = LiveWindow(query, spare: spare)
        try window.load(reader)
        (related, known) = (window, new)
    }

    private mutating func drop() {
        replaced += related?.loads ?? 0
        (related, known) = (nil, [])
    }
}
