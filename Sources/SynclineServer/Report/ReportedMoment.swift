// One thing that happened at a server: a row as it was left, the receipt of an operation, or a request. In a report it
// is an event of a store that saw each one at its time.

import SynclineCore
import SynclineReports
import SynclineTables
import SynclineWire

struct ReportedMoment {
    enum Content {
        case row(table: String, PulledRow)
        case receipt(OperationKey, Receipt, TableRow)
        case request(AccessLine)
    }

    var time: Int64
    /// The number of the change, for rows.
    var number: Int64 = 0
    var content: Content

    /// The tables of receipts and requests, with their columns.
    static let tables: [(name: String, columns: [TypedColumn])] = [
        (
            receipts,
            [
                TypedColumn("caller", .string), TypedColumn("kind", .string), TypedColumn("tableName", .string),
                TypedColumn("rowID", .string), TypedColumn("rowVersion", .string),
            ]
        ),
        (
            requests,
            [
                TypedColumn("client", .string), TypedColumn("user", .string), TypedColumn("method", .string),
                TypedColumn("path", .string), TypedColumn("tableName", .string), TypedColumn("rowID", .string),
                TypedColumn("status", .integer), TypedColumn("code", .string), TypedColumn("bytesIn", .integer),
                TypedColumn("bytesOut", .integer), TypedColumn("microseconds", .integer),
            ]
        ),
    ]
    static let receipts = "server_receipts"
    static let requests = "server_requests"

    /// Rows come before the receipts of their operations, and both before the requests that are logged when they end.
    static func comesFirst(_ left: ReportedMoment, _ right: ReportedMoment) -> Bool {
        (left.time, left.rank, left.number) < (right.time, right.rank, right.number)
    }

    private var rank: Int {
        switch content {
        case .row: 0
        case .receipt: 1
        case .request: 2
        }
    }

    /// The event, masked or as the mask collects it.
    func event(_ masking: Masking?) -> Event {
        switch content {
        case .row(let table, let row):
            let event = ReportedMoment.page(table, [row], time)
            return masking?.mask(event) ?? event
        case .receipt(let key, let receipt, let row):
            return other(
                ReportedMoment.receipts, key.id,
                [
                    person(key.caller, "caller", masking), .string(receipt.kind),
                    .string(masking?.mask(table: receipt.table) ?? receipt.table),
                    .string(masking?.mask(id: row.id) ?? row.id), .string(row.version),
                ])
        case .request(let line):
            let path = ServedPath(line.path)
            return other(
                ReportedMoment.requests, line.id,
                [
                    person(line.client, "client", masking), line.user.map { person($0, "user", masking) } ?? .null,
                    .string(line.method), .string(path.text(line.path, isKnown: line.status != 404, masking)),
                    path.table.map { .string(masking?.mask(table: $0) ?? $0) } ?? .null,
                    path.id.map { .string(masking?.mask(id: $0) ?? $0) } ?? .null, .integer(Int64(line.status)),
                    line.code.map { .string($0) } ?? .null, .integer(Int64(line.bytesIn)),
                    .integer(Int64(line.bytesOut)), .integer(line.microseconds),
                ])
        }
    }

    /// Rows that come together.
    static func page(_ table: String, _ rows: [PulledRow], _ time: Int64) -> Event {
        Event(time: time, .page(PulledPage(table: table, queryID: nil, rows: rows, cursor: nil)))
    }

    private func other(_ table: String, _ id: String, _ values: [Value]) -> Event {
        let columns = ReportedMoment.tables.first { $0.name == table }?.columns ?? []
        let row = Row(zip(columns, values).map { .init($0.name, $1) })
        return ReportedMoment.page(table, [PulledRow(id: id, row: row)], time)
    }

    /// Text that names a person or an address, which a mask replaces.
    private func person(_ text: String, _ column: String, _ masking: Masking?) -> Value {
        masking?.mask(.string(text), Masking.Place("", ["server", column])) ?? .string(text)
    }
}

/// The table and the row of a request's path. A feed is more likely than a row with its name.
private struct ServedPath {
    let table: String?
    let id: String?

    init(_ path: String) {
        let parts = path.split(separator: "/").map { PercentEncoding.decode($0) }
        let place = parts.firstIndex(of: "tables").map { $0 + 1 } ?? parts.endIndex
        table = place < parts.endIndex ? parts[place] : nil
        id = place + 1 < parts.endIndex && parts[place + 1] != "changes" ? parts[place + 1] : nil
    }

    /// The path with masks. One that the server does not serve may say anything.
    func text(_ path: String, isKnown: Bool, _ masking: Masking?) -> String {
        guard let masking else { return path }
        guard let table else { return isKnown ? path : masking.mask(words: path) }
        let names = [masking.mask(table: table)] + (id.map { [masking.mask(id: $0)] } ?? [])
        return "/tables/" + names.map(PercentEncoding.encode).joined(separator: "/")
    }
}
