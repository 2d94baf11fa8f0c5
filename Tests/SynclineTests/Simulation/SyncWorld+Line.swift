// What happens between a store and the server: faults, changes by other clients, changes by the app, the end of the
// process. Every write is checked: it changes on the server what its operation says, and nothing else.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire

@testable import Syncline

/// The line from one store to the server.
struct SyncLine: HTTPTransport {
    let world: SyncWorld
    let client: Int

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        guard let response = await world.answer(request, to: client) else { throw .offline("the line is cut") }
        return response
    }
}

/// A write as it is sent, alone or in a batch.
struct SentWrite: CustomStringConvertible {
    var isInsert: Bool
    var table: String
    var id: String
    var columns: [String]
    var operationID: String
    /// Whether it applies to one version of the row only.
    var hasVersion: Bool

    var description: String { "\(isInsert ? "insert" : "change") \(table)/\(id) \(operationID)" }

    /// The writes of a request: none if it only reads.
    static func all(in request: HTTPRequest, _ server: ServerProtocol) -> [SentWrite] {
        if request.method == "GET" { return [] }
        let parts = request.path.split(separator: "/").map(String.init)
        if parts.last == "$batch" {
            return ((try? BatchRequest(request.body ?? [], server))?.operations ?? []).map { operation in
                SentWrite(
                    isInsert: operation.kind == .insert, table: operation.table, id: operation.id,
                    columns: operation.item.columns.columns, operationID: operation.operationID ?? "",
                    hasVersion: operation.version != nil)
            }
        }
        let item = try? Value(json: request.body ?? [])
        var columns: [String] = []
        if case .object(let members)? = item { columns = members.map(\.name) }
        return [
            SentWrite(
                isInsert: request.method == "POST", table: parts[1],
                id: parts.count > 2 ? parts[2] : item?[member: "id"]?.text ?? "", columns: columns,
                operationID: request.headers.value(WireHeader.operationID) ?? "",
                hasVersion: request.headers.contains("If-Match"))
        ]
    }
}

extension SyncWorld {
    /// The response to a request; nil for a lost connection.
    func answer(_ request: HTTPRequest, to client: Int) async -> HTTPResponse? {
        guard !clients[client].hasEnded else { return nil }
        tick()
        clients[client].requests += 1
        let trouble = clients[client].trouble
        if clients[client].chance.below(1000) < trouble.others { changeAsOther(client) }
        if clients[client].chance.below(1000) < trouble.changes {
            do {
                try await change(client, 1, false, .durable)
            } catch let error as SyncError where [.rowExists, .rowDeleted].contains(error.code) {
            } catch {
                if trouble.disk == nil, !clients[client].hasEnded {
                    failure = failure ?? SyncFailure("a change while a push ran: \(error)")
                }
            }
            if clients[client].hasEnded { return nil }
        }
        let isLast = trouble.end?.request == clients[client].requests
        if isLast, trouble.end?.isHandled == false {
            endInTheMiddle(client, request)
            return nil
        }
        let fault = clients[client].chance.below(1000) < trouble.faults ? self.fault(client) : nil
        let response = handle(request, fault, client)
        note("  \(request.method) \(request.path) \(request.query.map(\.value)) → \(response?.status ?? 0)")
        if isLast {
            endInTheMiddle(client, request)
            return nil
        }
        return response
    }

    private func fault(_ client: Int) -> NetworkFault {
        clients[client].chance.pick([
            .dropRequest, .dropAnswer, .dropAnswer, .duplicate, .duplicate, .answer(status: 401),
            .answer(status: 409), .answer(status: 412), .answer(status: 429, retryAfter: "0"), .answer(status: 500),
            .answer(status: 503), .answer(status: 403), .answer(status: 302), .answer(status: 408),
        ])
    }

    private func handle(_ request: HTTPRequest, _ fault: NetworkFault?, _ client: Int) -> HTTPResponse? {
        switch fault {
        case nil, .delay?: return handle(request, client)
        case .dropRequest?: return nil
        case .dropAnswer?:
            _ = handle(request, client)
            return nil
        case .duplicate?:
            _ = handle(request, client)
            return handle(request, client)
        case .answer(let status, let retryAfter)?:
            var response = HTTPResponse(status: status)
            if let retryAfter { response.headers.append(HTTPHeader("Retry-After", retryAfter)) }
            return response
        }
    }

    private func handle(_ request: HTTPRequest, _ client: Int) -> HTTPResponse {
        let writes = SentWrite.all(in: request, plan.server)
        let parts = request.path.split(separator: "/").map(String.init)
        let tables = writes.isEmpty ? Set(parts.dropFirst().prefix(1)) : Set(writes.map(\.table))
        let before = tables.map { ($0, serverRows(of: $0)) }
        let response = server.handle(request)
        for write in writes where plan.hasLocalColumn && write.table == "t" {
            if write.columns.contains(SyncPlan.localColumn) {
                failure = failure ?? SyncFailure("\(write) has a local column")
            }
        }
        for (table, before) in before {
            let after = serverRows(of: table)
            // A row that is requested or deleted but does not exist is gone as far as the store can know.
            let asked = parts.count > 2 ? [parts[2]] : writes.filter { !$0.isInsert && $0.table == table }.map(\.id)
            for id in asked where after[id.lowercased()] == nil { history.insert("\(table)/\(id.lowercased()) gone") }
            for id in Set(before.keys).union(after.keys) where before[id] != after[id] {
                guard let write = writes.first(where: { $0.table == table && $0.id.lowercased() == id }) else {
                    failure = failure ?? SyncFailure("\(request.method) \(request.path) changed \(table)/\(id)")
                    continue
                }
                effects[write.operationID, default: 0] += 1
                if effects[write.operationID, default: 0] > 1, !mayRepeat(write, id) {
                    failure = failure ?? SyncFailure("\(write) was done twice")
                }
                check(write, client, id, before[id], after[id])
                remember(table, id, after[id])
            }
        }
        return response
    }

    /// A server that does not remember operations can't recognize a repeated insert whose row was hard-deleted in
    /// between, nor an update of a row whose version the client does not know.
    private func mayRepeat(_ write: SentWrite, _ id: String) -> Bool {
        if plan.options.recognizesOperations { return false }
        return write.isInsert ? history.contains("\(write.table)/\(id) removed") : !write.hasVersion
    }

    /// A write changes only columns that its operation changes.
    private func check(
        _ write: SentWrite, _ client: Int, _ id: String, _ before: [String: Value]?, _ after: [String: Value]?
    ) {
        guard let reader = try? clients[client].database?.reader, let entry = try? reader.entry(write.table, id),
            let frozen = entry.pending?.frozen, frozen.status == .inFlight
        else {
            failure = failure ?? SyncFailure("\(write) was sent and is not known to be")
            return
        }
        guard frozen.operationID == write.operationID else {
            failure = failure ?? SyncFailure("\(write) went with another operation id than it has")
            return
        }
        // An update of a row that was never read has no other columns to send.
        guard frozen.kind == .update, frozen.ancestor?.version != nil, let before, let after else { return }
        // A server's column with the name of a local one is not accepted, and so not sent back with a whole row
        // either.
        let system: Set = ["version", "updatedAt", "createdAt", "deleted", SyncPlan.localColumn]
        for name in Set(before.keys).union(after.keys).subtracting(system) where before[name] != after[name] {
            if frozen.columns[name] == nil {
                failure = failure ?? SyncFailure("\(write) changed \(name), which it does not name")
            }
        }
    }

    // MARK: The server's rows

    /// Time advances: later writes have another millisecond.
    func tick() {
        server.upsert([.object([.init("id", .string("tick"))])], in: "clock")
    }

    func serverRows(of table: String) -> [String: [String: Value]] {
        var rows: [String: [String: Value]] = [:]
        for row in server.rows(of: table) {
            guard case .object(let members) = row, let id = row[member: "id"]?.text else { continue }
            var columns = Dictionary(members.map { ($0.name, $0.value) }) { $1 }
            columns["id"] = nil
            rows[id.lowercased()] = columns.wireForm
        }
        return rows
    }

    private func remember(_ table: String, _ id: String, _ row: [String: Value]?) {
        guard let row else {
            history.insert("\(table)/\(id) removed")
            history.insert("\(table)/\(id) gone")
            return
        }
        if row["deleted"] == .bool(true) { history.insert("\(table)/\(id) gone") }
        for (name, value) in row { history.insert("\(table)/\(id)/\(name)=\(value.json)") }
    }

    /// Another client writes some rows, often in one millisecond, or removes one.
    func changeAsOther(_ client: Int) {
        tick()
        if plan.options.tellsChanges, clients[client].chance.once(in: 12) { server.forgetDeletions() }
        let table = clients[client].chance.pick(SyncPlan.tables)
        let isBurst = clients[client].chance.once(in: 4)
        let time = server.rows(of: "clock").first?[member: "updatedAt"]
        let count = isBurst ? 2 + clients[client].chance.below(8) : 1
        for _ in 0..<count {
            let id = id(&clients[client].chance)
            let isRemoval = clients[client].chance.once(in: 5)
            if isRemoval, plan.options.deletesForGood {
                server.remove([id], from: table)
            } else {
                var columns = columns(&clients[client].chance)
                if isRemoval { columns["deleted"] = .bool(true) }
                if isBurst, let time { columns["updatedAt"] = time }
                if plan.hasLocalColumn { columns[SyncPlan.localColumn] = .string("theirs") }
                server.upsert([.item(id, columns)], in: table)
            }
            remember(table, id.lowercased(), serverRows(of: table)[id.lowercased()])
            note("  other: \(table)/\(id)\(isRemoval ? " removed" : "")")
        }
    }

    /// One of a few ids, in different spellings if that makes no difference.
    private func id(_ chance: inout Chance) -> String {
        let id = "r\(chance.below(9))"
        return plan.options.ignoresCase && chance.once(in: 3) ? id.uppercased() : id
    }

    func columns(_ chance: inout Chance) -> [String: Value] {
        var columns: [String: Value] = [:]
        for name in ["a", "b", "c"] where chance.once(in: 2) { columns[name] = .integer(newNumber()) }
        if chance.once(in: 2) { columns["kind"] = .integer(Int64(chance.below(3))) }
        if chance.once(in: 3) { columns["name"] = chance.pick([.string("x"), .string("a'b é"), .null]) }
        return columns
    }

    // MARK: The app

    /// Some changes that the app may make, or that are refused.
    func change(_ client: Int, _ count: Int, _ isTransaction: Bool, _ durability: Durability) async throws {
        guard let database = clients[client].database else { return }
        var changes: [(kind: OperationKind, table: String, item: Value, id: String, numbers: Set<Int64>)] = []
        for _ in 0..<count {
            let (table, id) = (clients[client].chance.pick(SyncPlan.tables), id(&clients[client].chance))
            let isThere = try await database.rows(of: table).get(id: id) != nil
            var kind: OperationKind = isThere ? (clients[client].chance.once(in: 4) ? .delete : .update) : .insert
            if clients[client].chance.once(in: 12) { kind = clients[client].chance.pick(OperationKind.allCases) }
            var columns = kind == .delete ? [:] : columns(&clients[client].chance)
            if plan.hasLocalColumn, table == "t", kind != .delete, clients[client].chance.once(in: 3) {
                columns[SyncPlan.localColumn] = .string("mine")
            }
            let numbers = columns.values.compactMap { value -> Int64? in
                if case .integer(let number) = value, number > 2 { return number }
                return nil
            }
            changes.append((kind, table, .item(id, columns), id, Set(numbers)))
        }
        if isTransaction {
            let all = changes
            try await write(client, database, durability, all.reduce(into: []) { $0.formUnion($1.numbers) }) {
                for change in all { try $0.perform(change.kind, change.table, change.item, change.id) }
            }
        } else {
            for change in changes {
                try await write(client, database, durability, change.numbers) {
                    try $0.perform(change.kind, change.table, change.item, change.id)
                }
            }
        }
    }

    private func write(
        _ client: Int, _ database: SyncDatabase, _ durability: Durability, _ numbers: Set<Int64>,
        _ body: @escaping @Sendable (SyncTransaction) throws -> Void
    ) async throws {
        guard let event = try await database.transactionEvent(durability: durability, body) else { return }
        clients[client].acknowledged[event] = numbers
        if case .durable = durability { clients[client].durable = max(clients[client].durable, event) }
        note("  changed @\(event)")
    }
}

extension SyncTransaction {
    fileprivate func perform(_ kind: OperationKind, _ table: String, _ item: Value, _ id: String) throws {
        switch kind {
        case .insert: try insert(table, item)
        case .update: try update(table, item)
        case .delete: try delete(table, id: id)
        }
    }
}
