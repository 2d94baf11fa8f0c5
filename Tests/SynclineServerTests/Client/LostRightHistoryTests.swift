// Random lives of a store whose user gets and loses rights while changes wait: what it shows is what the user may see, and each
// change that can't be sent has the true reason.

import Syncline
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct LostRightHistoryTests {
    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `a change that waits keeps its reason through any life`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        var refused = 0
        for seed in RightsModelTests.seeds {
            let life = try await LostRightLife(backend, protocolVersion, seed)
            for _ in 0..<150 { try await life.step() }
            refused += life.refused
            try await life.store.close()
        }
        #expect(refused > 5, "\(refused)")
    }
}

private final class LostRightLife {
    private let client: ClientDesk
    private let configuration: SyncConfiguration
    private var chance: Chance
    private let seed: UInt64
    private var made = 0
    private(set) var store: SyncDatabase
    /// The lists that Bob may see, with the share of each.
    private var shares: [String: String] = [:]
    /// Rows that were deleted at the server.
    private var deleted: Set<String> = []
    /// How many lost rights were seen.
    private(set) var refused = 0

    init(_ backend: TestBackend, _ protocolVersion: ServerProtocol, _ seed: UInt64) async throws {
        client = try ClientDesk(backend, protocolVersion, tables: LostRightTests.tables)
        var configuration = SyncConfiguration()
        configuration.transport = UserLine(client.line, "bob")
        configuration.serverProtocol = protocolVersion
        self.configuration = configuration
        (chance, self.seed) = (Chance(seed: seed), seed)
        store = try await SyncDatabase.open(at: client.folder.path + "/bob", configuration)
        for list in ["l1", "l2"] { try admin("POST", "share", #"{"id":"\#(newID())","user":"ann","list":"\#(list)"}"#) }
        for number in 0..<6 {
            let body = #"{"id":"\#(newID())","list":"l\#(number % 2 + 1)","text":"t\#(number)"}"#
            #expect(try ann("POST", "todoitem", body) == 201)
        }
        try share("l1")
    }

    private func newID() -> String {
        made += 1
        return "00000000-0000-7000-8000-\(String(String(made + 1 << 48, radix: 16).suffix(12)))"
    }

    private func admin(_ method: String, _ path: String, _ body: String? = nil) throws {
        let headers = ["X-ZUMO-AUTH": token("root", claims: #","roles":["admin"]"#)]
        #expect(try client.desk.ask(method, "/tables/" + path, body, headers).status < 300)
    }

    private func ann(_ method: String, _ path: String, _ body: String? = nil) throws -> Int {
        try client.desk.ask(method, "/tables/" + path, body, ["X-ZUMO-AUTH": token("ann")]).status
    }

    private func share(_ list: String) throws {
        if let share = shares.removeValue(forKey: list) { return try admin("DELETE", "share/" + share) }
        shares[list] = newID()
        try admin("POST", "share", #"{"id":"\#(shares[list] ?? "")","user":"bob","list":"\#(list)"}"#)
    }

    // MARK: A life

    func step() async throws {
        switch chance.below(16) {
        case 0...2: try share(chance.pick(["l1", "l2"]))
        case 3: try change(chance.pick(["PATCH", "DELETE", "PATCH"]))
        case 4...6: try await edit()
        case 7...8: _ = try await store.pushOnce()
        case 9:
            client.line.lose(1)
            _ = try await store.pushOnce()
            client.line.lose(0)
        case 10: try await resolve()
        case 11 where chance.once(in: 3): try await store.compact()
        case 11:
            try await store.close()
            store = try await SyncDatabase.open(at: client.folder.path + "/bob", configuration)
        default: try await pull()
        }
    }

    /// Ann edits a row, moves it to another list, or deletes it.
    private func change(_ method: String) throws {
        guard let row = try rows().randomElement(using: &chance) else { return }
        let body = chance.once(in: 2) ? #"{"text":"ann \#(made)"}"# : #"{"list":"\#(chance.pick(["l1", "l2"]))"}"#
        let status = try ann(method, "todoitem/" + row.id, method == "DELETE" ? nil : body)
        #expect(status < 300)
        if method == "DELETE" { deleted.insert(row.id) }
    }

    private func edit() async throws {
        let table = store.rows(of: "todoitem")
        let found = try await table.query(RowQuery(table: "todoitem")).rows.map(\.id).sorted()
        made += 1
        guard let id = found.isEmpty || chance.once(in: 5) ? nil : chance.pick(found) else {
            let list = chance.pick(["l1", "l2"])
            try await table.insert(
                .object([.init("id", .string(newID())), .init("list", .string(list)), .init("text", "new")]))
            return
        }
        if chance.once(in: 3) {
            try await table.delete(id: id)
        } else {
            try await table.update(.object([.init("id", .string(id)), .init("text", .string("bob \(made)"))]))
        }
    }

    private func resolve() async throws {
        guard let issue = try await store.issues().randomElement(using: &chance) else { return }
        try await store.resolve(issue, chance.pick(issue.actions))
    }

    // MARK: What must be right

    private func rows() throws -> [TableRow] {
        try client.desk.tables.list(ListPlan(table: "todoitem", limit: 1000, subject: "ann")).rows
    }

    private func pull() async throws {
        // What can be pushed is pushed first.
        #expect(try await store.pullAll().reason == nil, "seed \(seed)")
        let server = Dictionary(uniqueKeysWithValues: try rows().map { ($0.id, $0) })
        for id in server.keys { deleted.remove(id) }
        func isVisible(_ id: String) -> Bool {
            guard case .string(let list)? = server[id]?.columns["list"] else { return false }
            return shares[list] != nil
        }
        let waiting = Set(try await store.pending().map(\.id))
        let shown = try await store.column("text").filter { !waiting.contains($0.key) }
        let seen = server.filter { isVisible($0.key) && !waiting.contains($0.key) }
        #expect(shown == seen.mapValues { $0.columns["text"] ?? .null }, "seed \(seed)")
        for conflict in try await store.conflicts() {
            let id = conflict.id
            switch conflict.reason {
            case .rightLost:
                refused += 1
                #expect(!isVisible(id), "seed \(seed) \(id)")
            case .gone:
                // It may never have been there: a change that followed a refused insert.
                let isThere = try client.desk.tables.row("todoitem", id: id) != nil
                #expect(deleted.contains(id) || !isThere, "seed \(seed) \(id)")
            case .changed: #expect(isVisible(id) && conflict.server != nil, "seed \(seed) \(id)")
            case .rejected: #expect(conflict.status == 403, "seed \(seed) \(id) \(conflict.message ?? "")")
            }
            // The app sees the whole row, but for what followed a change that was given up.
            if let row = conflict.current, conflict.base != nil {
                #expect(row["list"] != nil, "seed \(seed) \(id): \(conflict.kind) \(conflict.reason) \(row)")
            }
        }
    }
}
