// Many writes in one request, and their results. Operations run in order; consecutive operations of one group are
// applied all or none.

package import SynclineCore
import SynclineGround

package struct BatchRequest: Hashable, Sendable {
    package struct Operation: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable, CaseIterable {
            case insert, update, replace, delete, undelete
        }

        package var kind: Kind
        package var table: String
        /// Empty for an insert without one.
        package var id: String
        package var item: TableItem
        /// The version that the row must have.
        package var version: String?
        package var operationID: String?
        package var group: String?
    }

    package var operations: [Operation] = []
    /// Whether the operations after a refused one are skipped.
    package var stopsAtRefusal = false
    /// Whether the response has the rows; otherwise only their ids and versions.
    package var wantsRows = true

    /// The maximum number of operations in one request.
    package static let limit = 10_000

    package init(_ body: [UInt8], _ serverProtocol: ServerProtocol) throws(TableRequestError) {
        // The reader detects errors of JSON, the builder those of its content.
        var fault: TableRequestError?
        do throws(JSONError) {
            self = try body.withScanner { scanner throws(JSONError) in
                var reader = BatchReader(serverProtocol)
                let request = try reader.request(&scanner)
                fault = reader.fault
                return request
            }
        } catch {
            throw TableRequestError(400, error.description, code: "invalid-json")
        }
        if let fault { throw fault }
    }

    fileprivate init() {}

    /// The indexes of the operations in groups: neighbours with the same group name, and each other operation by
    /// itself.
    package var groups: [[Int]] {
        var groups: [[Int]] = []
        for (index, operation) in operations.enumerated() {
            if index > 0, let name = operation.group, operations[index - 1].group == name {
                groups[groups.count - 1].append(index)
            } else {
                groups.append([index])
            }
        }
        return groups
    }
}

private struct BatchReader {
    let serverProtocol: ServerProtocol
    private(set) var fault: TableRequestError?
    private var rows = RowReader()

    init(_ serverProtocol: ServerProtocol) {
        self.serverProtocol = serverProtocol
    }

    mutating func request(_ scanner: inout JSONScanner) throws(JSONError) -> BatchRequest {
        var request = BatchRequest()
        try scanner.forEachMember { scanner, name throws(JSONError) in
            switch name {
            case "operations": request.operations = try operations(&scanner)
            case "onRefusal":
                let word = try scanner.value(depth: 1)
                request.stopsAtRefusal = word == .string("stop")
                if word != .string("stop"), word != .string("continue") { refuse("onRefusal must be stop or continue") }
            case "rows": request.wantsRows = try scanner.value(depth: 1) != .bool(false)
            default:
                _ = try scanner.value(depth: 1)
                refuse("a batch can't have a member \(name.prefix(40))")
            }
        }
        try scanner.finish()
        return request
    }

    private mutating func refuse(_ message: String, code: String = "invalid-batch") {
        if fault == nil { fault = TableRequestError(400, message, code: code) }
    }

    private mutating func operations(_ scanner: inout JSONScanner) throws(JSONError) -> [BatchRequest.Operation] {
        var operations: [BatchRequest.Operation] = []
        guard try scanner.peek() == .array else { throw scanner.error(.wrongShape("operations must be an array")) }
        var more = try scanner.enter("[", "]")
        while more {
            let operation = try operation(&scanner, operations.count + 1)
            if let operation { operations.append(operation) }
            if operations.count > BatchRequest.limit {
                refuse("a batch has at most \(BatchRequest.limit) operations", code: "batch-too-large")
                throw scanner.error(.wrongShape("a batch has at most \(BatchRequest.limit) operations"))
            }
            more = try scanner.hasNext("]")
        }
        return operations
    }

    private mutating func operation(
        _ scanner: inout JSONScanner, _ place: Int
    ) throws(JSONError) -> BatchRequest.Operation? {
        var texts = Texts()
        var item = TableItem(columns: .empty)
        guard try scanner.peek() == .object else { throw scanner.error(.wrongShape("an operation must be an object")) }
        try scanner.forEachMember { scanner, name throws(JSONError) in
            if name == "item" {
                item = try self.item(&scanner)
            } else {
                let isFine =
                    switch try scanner.value(depth: 2) {
                    case .string(let text): texts.set(name, text)
                    case .null: true
                    default: false
                    }
                if !isFine {
                    refuse("operation \(place): \(name.prefix(40)) is unknown or not a string")
                }
            }
        }
        guard let kind = BatchRequest.Operation.Kind(rawValue: texts.operation ?? ""), let table = texts.table else {
            refuse("operation \(place) needs a table and one of insert, update, replace, delete, undelete")
            return nil
        }
        let id = texts.id ?? item.id ?? ""
        if let own = item.id, !own.hasSameBytes(as: id) {
            refuse("operation \(place) has two ids", code: "id-mismatch")
        }
        if id.isEmpty, kind != .insert { refuse("operation \(place) needs an id", code: "missing-id") }
        return BatchRequest.Operation(
            kind: kind, table: table, id: id, item: item, version: texts.version, operationID: texts.operationID,
            group: texts.group)
    }

    /// The string members of an operation.
    private struct Texts {
        var operation, table, id, version, operationID, group: String?

        /// Sets a member; returns false if there is none with this name.
        mutating func set(_ name: String, _ text: String) -> Bool {
            switch name {
            case "operation": operation = text
            case "table": table = text
            case "id": id = text
            case "ifMatch": version = text
            case "operationId": operationID = text
            case "group": group = text
            default: return false
            }
            return true
        }
    }

    private mutating func item(_ scanner: inout JSONScanner) throws(JSONError) -> TableItem {
        let row = try rows.row(&scanner)
        do throws(TableRequestError) {
            return try TableItem(row, serverProtocol, .both(maximalTop: 0, filterDepth: 0))
        } catch {
            if fault == nil { fault = error }
            return TableItem(columns: .empty)
        }
    }
}

/// The response to a batch. When it reaches its maximum size, rows are left out and marked as omitted; the first row
/// never is.
package struct BatchAnswer {
    private var writer = JSONWriter()
    private let limit: Int
    private var isFirst = true
    private var hasRow = false

    package init(limit: Int = .max) {
        self.limit = limit
        writer.raw(#"{"results":["#)
    }

    /// Adds the next operation's result. Of a row that is not readable it has only the id and the version.
    package mutating func add(
        status: Int, error: (message: String, code: String)? = nil, row: TableRow?, _ serverProtocol: ServerProtocol,
        wantsRow: Bool, isReadable: Bool = true
    ) {
        if !isFirst { writer.raw(",") }
        isFirst = false
        writer.raw(#"{"status":\#(status)"#)
        if let row {
            writer.raw(#","id":"#)
            writer.write(.string(row.id))
            writer.raw(#","version":"#)
            writer.write(.string(row.version))
            if !isReadable {
                writer.raw(#","readable":false"#)
            } else if wantsRow {
                add(row, serverProtocol)
            }
        }
        if let error {
            writer.raw(#","error":"#)
            writer.write(.string(error.message))
            writer.raw(#","code":"#)
            writer.write(.string(error.code))
        }
        writer.raw("}")
    }

    private mutating func add(_ row: TableRow, _ serverProtocol: ServerProtocol) {
        let before = writer.count
        if !row.isBare {
            writer.raw(#","row":"#)
            writer.write(row, serverProtocol)
        }
        if row.isBare || hasRow && writer.count > limit {
            writer.truncate(to: before)
            writer.raw(#","rowOmitted":true"#)
        } else {
            hasRow = true
        }
    }

    package consuming func response() -> HTTPResponse {
        writer.raw("]}")
        return TableAnswer.json(200, writer.bytes)
    }
}
