// The simulated server shares its decisions with the real one. So its writes are also compared with an account of what
// each does that shares nothing with either.

import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

/// Rows, and what a write does to them and is answered.
private struct WriteOracle {
    struct Known: Hashable {
        var columns: [String: Value]
        var isDeleted = false
    }

    /// Which version a write is for.
    enum Condition: CaseIterable {
        case none, current, stale
    }

    let isOld: Bool
    let deletesForGood: Bool
    private(set) var rows: [String: Known] = [:]

    /// Returns the status of the answer.
    mutating func write(
        _ kind: OperationKind?, _ id: String, _ columns: [String: Value], _ condition: Condition
    ) -> Int {
        guard var row = rows[id] else {
            if kind != .insert { return 404 }
            rows[id] = Known(columns: columns)
            return 201
        }
        if kind == .insert { return 409 }
        if kind == .delete, row.isDeleted { return isOld ? condition == .none ? 409 : 412 : 410 }
        if kind == .update, row.isDeleted, !isOld { return 410 }
        if condition == .stale { return 412 }
        switch kind {
        case .delete:
            row.isDeleted = true
            rows[id] = deletesForGood ? nil : row
            return isOld ? 200 : 204
        case .update:
            row.columns = isOld ? row.columns.merging(columns) { $1 } : columns
            rows[id] = row
            return 200
        default:
            if !isOld { row.columns = columns }
            row.isDeleted = false
            rows[id] = row
            return isOld ? 201 : 200
        }
    }
}

@Suite struct WriteOracleTests {
    /// The request for a write; a kind of nil restores a row.
    private func request(
        _ kind: OperationKind?, _ id: String, _ columns: [String: Value], _ version: String?, isOld: Bool
    ) -> HTTPRequest {
        let (method, path) =
            switch kind {
            case .insert: ("POST", "/tables/t")
            case .update: (isOld ? "PATCH" : "PUT", "/tables/t/\(id)")
            case .delete: ("DELETE", "/tables/t/\(id)")
            case nil: (isOld ? "POST" : "PUT", "/tables/t/\(id)")
            }
        var request = HTTPRequest(method, path)
        if kind == nil, !isOld { request.query = [HTTPHeader("__includedeleted", "true")] }
        if let version { request.headers = [HTTPHeader("If-Match", "\"\(version)\"")] }
        var members = columns.map { Value.Member($0.key, $0.value) }
        if kind == .insert { members.append(.init("id", .string(id))) }
        if kind != .delete { request.body = Array(Value.object(members).json.utf8) }
        return request
    }

    @Test(arguments: ServerProtocol.allCases, [false, true])
    func `every write does what an independent account says`(
        _ serverProtocol: ServerProtocol, _ deletesForGood: Bool
    ) {
        let isOld = serverProtocol == .zumo2
        for seed in UInt64(0)..<40 {
            var chance = Chance(seed: seed)
            var options = SimulatedServer.Options()
            options.deletesForGood = deletesForGood
            let server = SimulatedServer(serverProtocol, options: options)
            var oracle = WriteOracle(isOld: isOld, deletesForGood: deletesForGood)
            for step in 0..<60 {
                let id = chance.pick(["a", "b", "c"])
                let kind = chance.pick([OperationKind.insert, .update, .update, .delete, nil])
                var columns: [String: Value] = [:]
                for name in ["n", "m"] where chance.once(in: 2) { columns[name] = .integer(Int64(step)) }
                let version = server.rows(of: "t").first { $0[member: "id"]?.text == id }?[member: "version"]?.text
                let condition = kind == .insert || version == nil ? .none : chance.pick(WriteOracle.Condition.allCases)
                let named = condition == .none ? nil : condition == .stale ? "other" : version
                let response = server.handle(request(kind, id, columns, named, isOld: isOld))
                let status = oracle.write(kind, id, columns, condition)
                #expect(response.status == status, "seed \(seed), step \(step): \(kind as Any) \(id) \(condition)")
                #expect(rows(server) == oracle.rows, "seed \(seed), step \(step): \(kind as Any) \(id) \(condition)")
            }
        }
    }

    private func rows(_ server: SimulatedServer) -> [String: WriteOracle.Known] {
        var rows: [String: WriteOracle.Known] = [:]
        for row in server.rows(of: "t") {
            var known = WriteOracle.Known(columns: [:], isDeleted: row[member: "deleted"] == .bool(true))
            for name in ["n", "m"] { known.columns[name] = row[member: name] }
            rows[row[member: "id"]?.text ?? ""] = known
        }
        return rows
    }
}
