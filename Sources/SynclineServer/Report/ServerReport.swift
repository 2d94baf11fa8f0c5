// The report of a server: its rows before a span, its changes, receipts and requests in the span, as the events of a
// store, which the tool opens like any other. It reads the database at one moment and changes nothing.

import SynclineCore
import SynclineGround
import SynclineReports
import SynclineTables
import SynclineWire

struct ServerReport {
    /// What was written.
    struct Counts: Hashable, Sendable {
        var tables = 0
        var rows = 0
        var changes = 0
        var receipts = 0
        var requests = 0
        /// Lines of the log that are no requests.
        var otherLines = 0
        /// Rows that were changed after the span: their earlier values are not known.
        var later = 0
    }

    private let span: ClosedRange<Int64>
    private let now: Int64
    private let masking: Masking?
    /// The tenant whose requests are part of it.
    private let tenant: String?
    private var moments: [ReportedMoment] = []
    private var pages: UInt64 = 0
    private(set) var counts = Counts()

    init(_ plan: ReportPlan, tenant: String? = nil, now: Int64) throws(StartFailure) {
        self.tenant = tenant
        let to = plan.to ?? now
        let from = plan.from ?? to - 86_400_000
        guard from <= to else { throw StartFailure("the report would end before it begins") }
        (span, self.now) = (from...to, now)
        masking = plan.masks.map { Masking($0, ids: .exact, coded: Base64.encode) }
    }

    /// Adds the lines of the log, one at a time.
    mutating func add(logged line: String) {
        guard let request = AccessLine(line) else {
            counts.otherLines += 1
            return
        }
        guard span.contains(request.time), request.tenant == tenant else { return }
        counts.requests += 1
        moments.append(ReportedMoment(time: request.time, content: .request(request)))
    }

    /// Writes the report of a database, a line at a time.
    mutating func write(
        _ tables: [TableSQL], _ connection: any SQLConnection, _ dialect: SQLDialect, to file: (([UInt8]) -> Bool)
    ) throws(StoreFailure) {
        try connection.reading(dialect) { () throws(StoreFailure) in
            try collect(tables, connection, dialect)
            try writeAll(tables, connection, to: file)
        }
    }

    /// Finds all changes, and the values for the mask.
    private mutating func collect(
        _ tables: [TableSQL], _ connection: any SQLConnection, _ dialect: SQLDialect
    ) throws(StoreFailure) {
        counts.tables = tables.count
        for table in tables {
            _ = masking?.mask(ServerReport.types(table))
            var changed: [ReportedMoment] = []
            var (later, found, count) = (0, 0, UInt64(0))
            try forEachPage(table, connection) { time, row, number in
                if time > span.upperBound {
                    later += 1
                } else {
                    let content = ReportedMoment.Content.row(table: table.schema.name, row)
                    changed.append(ReportedMoment(time: time, number: number, content: content))
                }
            } page: { event in
                if case .page(let page) = event.body { found += page.rows.count }
                count += 1
                _ = masking?.mask(event)
                return true
            }
            moments += changed
            pages += count
            counts.rows += found
            counts.later += later
        }
        counts.changes = moments.count - counts.requests
        let names = Set(tables.map { ExactString($0.schema.name) })
        try connection.forEachRow(of: StateSQL.tombstones(from: span.lowerBound, through: span.upperBound)) { row in
            let (table, id) = (row.value(0).text, row.value(1).text)
            guard names.contains(ExactString(table)) else { return }
            moments.append(
                ReportedMoment(
                    time: row.value(3).integer, number: row.value(2).integer,
                    content: .row(table: table, PulledRow(id: id, row: nil))))
            counts.changes += 1
        }
        try connection.forEachRow(of: StateSQL.receipts(from: span.lowerBound, through: span.upperBound)) { row in
            let receipt = Receipt(table: row.value(3).text, kind: row.value(4).text, row: row.value(5).text)
            guard case .done(_, let served)? = OperationMemory.outcome(kind: receipt.kind, text: receipt.row) else {
                return
            }
            let key = OperationKey(id: row.value(1).text, caller: row.value(0).text)
            counts.receipts += 1
            moments.append(
                ReportedMoment(time: row.value(2).integer, content: .receipt(key, receipt, served)))
        }
        moments.sort(by: ReportedMoment.comesFirst)
        for moment in moments { _ = moment.event(masking) }
        masking?.close()
    }

    private func writeAll(
        _ tables: [TableSQL], _ connection: any SQLConnection, to file: ([UInt8]) -> Bool
    ) throws(StoreFailure) {
        var checksum = LineChecksum()
        var number: UInt64 = 0
        var isWanted = true
        func add(_ lines: ReportLines) {
            checksum.add(lines)
            isWanted = isWanted && file(lines.bytes)
        }
        func add(_ event: Event) {
            number += 1
            var lines = ReportLines()
            event.bytes.withUnsafeBytes { lines.append(number, $0) }
            add(lines)
        }
        let declarations = ReportedMoment.tables.map { TypeDeclaration(table: $0.name, columns: $0.columns) }
        let last = 1 + UInt64(declarations.count + tables.count) + pages + UInt64(moments.count)
        add(ReportLines.head(through: last, isMasked: masking != nil, now: now))
        add(
            Event(
                time: span.lowerBound,
                .opened(
                    Opening(
                        device: "server", engineVersion: synclineVersion, projectorVersion: Projector.version,
                        schemaVersion: 0))))
        for declaration in declarations { add(Event(time: span.lowerBound, .typed(declaration))) }
        for table in tables {
            let types = ServerReport.types(table, at: span.lowerBound)
            add(masking?.mask(types) ?? types)
            try forEachPage(table, connection) { _, _, _ in
            } page: { event in
                add(masking?.mask(event) ?? event)
                return isWanted
            }
        }
        for moment in moments where isWanted { add(moment.event(masking)) }
        add(ReportLines(Array(checksum.endMark.json.utf8)))
    }

    private static func types(_ table: TableSQL, at time: Int64 = 0) -> Event {
        let columns = table.schema.columns.map { TypedColumn($0.name, $0.type) }
        return Event(time: time, .typed(TypeDeclaration(table: table.schema.name, columns: columns)))
    }

    /// Passes each row that changed since the span began to `changed`, with its time and number, and the others, several
    /// at a time, as an event to `page`, until that returns false.
    private func forEachPage(
        _ table: TableSQL, _ connection: any SQLConnection, changed: (Int64, PulledRow, Int64) -> Void,
        page: (Event) -> Bool
    ) throws(StoreFailure) {
        var rows: [PulledRow] = []
        var isWanted = true
        // Most rows of a table have the same columns.
        var shape = RowShape([])
        func pulled(_ row: TableRow) -> PulledRow {
            if row.isDeleted { return PulledRow(id: row.id, row: nil) }
            // The id comes first.
            let columns = row.members(.zumo2).dropFirst()
            if !shape.names.elementsEqual(columns, by: { $0.hasSameBytes(as: $1.name) }) {
                shape = RowShape(columns.map(\.name))
            }
            return PulledRow(id: row.id, row: Row(shape, columns.map(\.value)))
        }
        func pass() {
            if isWanted, !rows.isEmpty {
                isWanted = page(ReportedMoment.page(table.schema.name, rows, span.lowerBound))
            }
            rows = []
        }
        try connection.run(table.allRows) { values in
            let row = table.row(values)
            if row.updatedAt.milliseconds >= span.lowerBound {
                changed(row.updatedAt.milliseconds, pulled(row), values.value(4).integer)
            } else if !row.isDeleted {
                rows.append(pulled(row))
                if rows.count == 1000 { pass() }
            }
            return isWanted
        }
        pass()
    }
}

extension TableSQL {
    /// All rows, also deleted ones and those that not everybody sees.
    fileprivate var allRows: SQLStatement {
        var statement: SQLStatement = "SELECT \(selection) FROM \(table) ORDER BY \(name(.id))"
        statement.isLarge = true
        return statement
    }
}
