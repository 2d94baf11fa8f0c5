// What must be true of a store when it is opened again, and at the end: the server's rows, the log's account of
// every change, the balance, and that nothing was done twice.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire

@testable import Syncline

extension SyncWorld {
    // MARK: Ends and beginnings

    func end(_ client: Int, isKill: Bool) async throws {
        // Nothing acknowledged as durable is left to be written; a kill does not even lose the rest.
        endDisk(client, isKill: isKill)
    }

    func endDisk(_ client: Int, isKill: Bool) {
        if isKill, let database = clients[client].database, clients[client].trouble.disk == nil {
            clients[client].durable = max(clients[client].durable, database.lastEvent.rawValue)
        }
        let disk = clients[client].disk
        disk.disarm()
        clients[client].disk = isKill ? disk.processKill() : disk.crash(using: &clients[client].chance)
        clients[client].database = nil
        note("  \(isKill ? "killed" : "lost power")")
    }

    func endInTheMiddle(_ client: Int, _ request: HTTPRequest) {
        if let write = SentWrite.all(in: request, plan.server).first(where: { !$0.isInsert }) {
            clients[client].onItsWay = (write.table, write.id, write.operationID)
        }
        endDisk(client, isKill: clients[client].chance.once(in: 2))
        clients[client].hasEnded = true
    }

    func open(_ client: Int) async throws {
        var configuration = SyncConfiguration.test()
        configuration.environment = clients[client].environment
        configuration.serverProtocol = plan.server
        configuration.ids = plan.options.ignoresCase ? .ignoreCase : .exact
        if plan.hasLocalColumn {
            configuration.schema = SyncSchema(
                version: 1, tables: [TableSchema("t", localColumns: [SyncPlan.localColumn])])
        }
        configuration.transport = SyncLine(world: self, client: client)
        let disk = clients[client].disk
        let database = try await SyncDatabase.open(disk, configuration)
        clients[client].database = database
        let last = database.lastEvent.rawValue
        guard last >= clients[client].durable else {
            throw SyncFailure("client \(client) has @\(last), and @\(clients[client].durable) was durable")
        }
        let image = try StateImage.check(disk, "seed \(plan.seed)")
        guard image.through == last, try StateImage.contents(database.reader.snapshot) == image.contents else {
            throw SyncFailure("client \(client) opened in another state than its log folds to")
        }
        if let digest = clients[client].known[last], digest != image.digest {
            throw SyncFailure("client \(client) was in another state at @\(last)")
        }
        clients[client].known = clients[client].known.filter { $0.key <= last }
        clients[client].acknowledged = clients[client].acknowledged.filter { $0.key <= last }
        clients[client].durable = last
        if let (table, id, operationID) = clients[client].onItsWay {
            clients[client].onItsWay = nil
            guard let frozen = try database.reader.entry(table, id)?.pending?.frozen,
                frozen.operationID == operationID
            else { throw SyncFailure("\(table)/\(id) was on its way as \(operationID), and the store does not know") }
        }
    }

    /// Records the current state.
    func look(at client: Int) async throws {
        guard let database = clients[client].database else { return }
        let (last, digest) = try await database.perform(.buffered) { engine throws(SyncError) in
            (engine.projector.through, engine.projector.store.digest)
        }
        clients[client].known[last] = digest
        note("  @\(last) \(digest)")
    }

    // MARK: The end

    func checkRows(of client: Int) async throws {
        for table in SyncPlan.tables {
            let filter = try plan.queries[client][table]?.filter.map { try FilterExpression(parsing: $0) }
            let found = try await clients[client].rows(of: table, filter)
            var expected: [String: [String: Value]] = [:]
            for (id, columns) in serverRows(of: table) where columns["deleted"] != .bool(true) {
                let row = Row(columns.map { .init($0.key, $0.value) })
                let isMatch = filter.map { filter in
                    row.withView { view in
                        Array(id.utf8).withUnsafeBytes { filter.matches(EncodedRowView(id: $0, row: view)) }
                    }
                }
                if isMatch ?? true { expected[id] = columns }
            }
            if let row = found.first(where: {
                plan.hasLocalColumn && $0.value[SyncPlan.localColumn] == .string("theirs")
            }),
                table == "t"
            {
                throw SyncFailure("client \(client), \(table)/\(row.key): a local column came from the server")
            }
            for id in Set(found.keys).union(expected.keys).sorted() where !same(found[id], expected[id]) {
                throw SyncFailure(
                    "client \(client), \(table)/\(id): has \(text(found[id])), the server \(text(expected[id]))")
            }
        }
    }

    private func same(_ left: [String: Value]?, _ right: [String: Value]?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return Set(left.keys).union(right.keys).allSatisfy { name in
            name == "deleted" || plan.hasLocalColumn && name == SyncPlan.localColumn
                || (left[name] ?? .null).isExpected(by: right[name] ?? .null)
        }
    }

    private func text(_ row: [String: Value]?) -> String {
        guard let row else { return "nothing" }
        return Value.object(row.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }).json
    }

    func checkLog(of client: Int) throws {
        try LogAccount(client: client, acknowledged: clients[client].acknowledged, history: history)
            .check(clients[client].disk)
    }
}
