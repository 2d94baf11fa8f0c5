// Random filters by decimals, dates and UUIDs, written by the client and sent to a server: it finds the rows that the client
// finds by the same filter, and a reconcile removes none of them. SYNCLINE_SEED=n repeats one run, SYNCLINE_SEEDS=n sends
// more filters to each server.

import Foundation
import Syncline
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

/// The line to a simulated server.
private struct SimulatedLine: HTTPTransport {
    let server: SimulatedServer

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse { server.handle(request) }
}

/// Rows of three typed columns, and filters about them.
private struct TypedRows {
    /// Whether UUIDs are also written in both cases, and decimals in quotation marks.
    var (isMixed, isQuoted) = (true, false)
    var owner = ColumnType.uuid
    private(set) var chance: Chance
    private var amounts = [
        "7", "-7", "0", "0.07", "12.50", "100", "1e2", "18446744073709551615", "12345678901234567890.12",
    ]
    private var times: [Timestamp] = []
    private var owners: [String] = []

    init(seed: UInt64) {
        chance = Chance(seed: seed)
        for _ in 0..<12 { amounts.append(amount()) }
        for _ in 0..<12 { times.append(time()) }
        for _ in 0..<8 { owners.append(Spellings.uuid(&chance)) }
    }

    var types: TableTypes {
        TableTypes([TypedColumn("amount", .decimal), TypedColumn("at", .date), TypedColumn("owner", owner)])
    }

    private mutating func amount() -> String {
        let digits = (0...chance.below(20)).map { _ in "\(chance.below(10))" }.joined()
        let whole = String(digits.drop { $0 == "0" })
        let text = (whole.isEmpty ? "0" : whole) + (chance.once(in: 3) ? "" : ".\(chance.below(1000))")
        return (chance.once(in: 3) ? "-" : "") + text
    }

    private mutating func time() -> Timestamp {
        let day = Int64(chance.below(3)) * 86_400 + 1_779_000_000 / 86_400 * 86_400
        if chance.once(in: 4) { return Timestamp(.init(seconds: day), decimals: 0, zone: .dateOnly) }
        let nanoseconds = chance.pick([0, 123_000_000, 123_456_000, 123_456_700] as [UInt32])
        return Timestamp(.init(seconds: day + Int64(chance.below(4)) * 20_000, nanoseconds: nanoseconds), decimals: 7)
    }

    /// The same moment in another zone.
    private mutating func respelled(_ time: Timestamp) -> Timestamp {
        var time = time
        if time.zone == .dateOnly, chance.once(in: 2) { return time }
        time.zone = chance.pick([.utc, .offset(120), .offset(-690), .none])
        time.decimals = max(time.decimals, 7)
        return time
    }

    private mutating func uuid() -> String {
        let text = chance.once(in: 12) ? Spellings.uuid(&chance) : chance.pick(owners)
        return switch chance.below(isMixed ? 3 : 2) {
        case 0: text.uppercased()
        case 1: text.lowercased()
        default: String(text.map { chance.once(in: 2) ? Character($0.uppercased()) : Character($0.lowercased()) })
        }
    }

    /// A row as JSON.
    mutating func row(_ id: String) -> String {
        var members = [#""id":"\#(id)""#]
        if !chance.once(in: 8) {
            let amount = chance.pick(amounts)
            members.append("\"amount\":" + (isQuoted && chance.once(in: 3) ? "\"\(amount)\"" : amount))
        }
        if !chance.once(in: 8) { members.append("\"at\":\"\(respelled(chance.pick(times)))\"") }
        if !chance.once(in: 8) { members.append("\"owner\":\"\(uuid())\"") }
        return "{\(members.joined(separator: ","))}"
    }

    mutating func filter(depth: Int = 2) -> FilterExpression {
        if depth > 0 {
            switch chance.below(5) {
            case 0: return .and(filter(depth: depth - 1), filter(depth: depth - 1))
            case 1: return .or(filter(depth: depth - 1), filter(depth: depth - 1))
            case 2: return .not(filter(depth: depth - 1))
            default: break
            }
        }
        let column = chance.pick(["amount", "at", "owner"])
        if chance.once(in: 10) {
            return .compare(chance.pick([.equal, .notEqual]), .column(column), .literal(.null))
        }
        if chance.once(in: 6) { return .oneOf(.column(column), (0...chance.below(3)).map { _ in literal(column) }) }
        let equality: [FilterExpression.Comparison] = [.equal, .notEqual]
        let comparison = chance.pick(column == "owner" ? equality : FilterExpression.Comparison.allCases)
        return .compare(comparison, .column(column), literal(column))
    }

    private mutating func literal(_ column: String) -> FilterExpression {
        switch column {
        case "amount":
            let text = chance.once(in: 6) ? amount() : chance.pick(amounts)
            return .literal(chance.once(in: 3) ? .string(text) : Value(number: text) ?? .null)
        case "at":
            var time = chance.once(in: 6) ? time() : chance.pick(times)
            if chance.once(in: 6) {
                let instant = Timestamp.Instant(
                    seconds: time.instant.seconds, nanoseconds: time.instant.nanoseconds ^ 100)
                time = Timestamp(instant, decimals: 9)
            }
            return .literal(chance.once(in: 5) ? .string("\(respelled(time))") : .date(respelled(time)))
        default: return .literal(.string(uuid()), form: chance.pick([.plain, .guid]))
        }
    }
}

@Suite struct TypedFilterTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = Seeds.one()
    /// For each server.
    private static let count = environment["SYNCLINE_SEEDS"].flatMap(Int.init) ?? 500

    private static let tables = """
        {"loose":{},"typed":{"columns":{"amount":"decimal","at":"date","owner":"uuid"}},
        "words":{"columns":{"amount":"decimal(string)","at":"date","owner":"uuid"}}}
        """

    @Test(arguments: TestBackend.available, ServerProtocol.allCases)
    func `this project's server finds what its client finds`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        let names = ["loose", "typed", "words"]
        for name in names {
            let desk = try ServiceDesk(backend, tables: Self.tables, pageSize: 1000)
            var rows = TypedRows(seed: Self.seed)
            rows.isQuoted = name != "loose"
            try await compare(
                &rows, name, Self.count / 2 / names.count, DeskLine(desk.service), protocolVersion,
                insert: { try desk.ask("POST", "/tables/\(name)", $0) },
                ask: { try desk.ask("GET", $0, new: protocolVersion == .datasync3) })
            #expect(try desk.store.sweep().isEmpty && desk.store.sweep().isEmpty)
        }
    }

    @Test(arguments: ServerProtocol.allCases, [ColumnType.uuid, .guid])
    func `another server finds what the client finds`(
        _ protocolVersion: ServerProtocol, _ owner: ColumnType
    ) async throws {
        let server = SimulatedServer(protocolVersion)
        server.setTable("t", rows: [], pageLimit: 1000)
        var rows = TypedRows(seed: Self.seed)
        // It does not know what a string means.
        (rows.isMixed, rows.owner) = (owner == .guid, owner)
        func send(_ method: String, _ target: String, _ body: String? = nil) throws -> HTTPResponse {
            var request = try #require(HTTPRequest(method, target: target))
            request.body = body.map { Array($0.utf8) }
            return server.handle(request)
        }
        try await compare(
            &rows, "t", Self.count / 4, SimulatedLine(server: server), protocolVersion,
            insert: { try send("POST", "/tables/t", $0) }, ask: { try send("GET", $0) })
    }

    private func compare(
        _ rows: inout TypedRows, _ table: String, _ count: Int, _ line: any HTTPTransport,
        _ protocolVersion: ServerProtocol, insert: (String) throws -> HTTPResponse,
        ask: (String) throws -> HTTPResponse
    ) async throws {
        for place in 0..<60 {
            let made = try insert(rows.row("r\(place)"))
            #expect(made.status == 201, "\(made.text)")
        }
        let folder = try TemporaryFolder()
        func open(_ name: String) async throws -> SyncDatabase {
            var configuration = SyncConfiguration()
            (configuration.transport, configuration.serverProtocol) = (line, protocolVersion)
            let store = try await SyncDatabase.open(at: folder.path + "/" + name, configuration)
            let columns = rows.types.columns.map { ($0.name, $0.type) }
            try await store.declareColumns(table: table, Dictionary(columns) { $1 })
            return store
        }
        let store = try await open("all")
        #expect(try await store.pullAll(table).reason == nil)
        let places = try await store.rows(of: table).query(RowQuery(table: table)).rows
        #expect(places.count == 60)
        for number in 0..<count {
            let filter = rows.filter()
            let found = try await store.rows(of: table).query(RowQuery(table: table, filter: filter)).rows.map(\.id)
            let sent = try filter.spelled(by: rows.types, for: protocolVersion).forServers.text(for: protocolVersion)
            let answer = try ask("/tables/\(table)?$top=1000&$filter=\(sent.encoded)")
            #expect(answer.status == 200, "\(sent): \(answer.text)")
            #expect(
                answer.ids.sorted() == found.sorted(), "seed \(Self.seed), filter \(number) of \(table): \(sent)")
            guard number % 40 == 0 else { continue }
            let other = try await open("pull\(number)")
            for _ in 0..<2 {
                let report = try await other.pullAll(table) { ($0.filter, $0.reconciles) = (filter, true) }
                #expect(report.reason == nil && report.deleted == 0, "seed \(Self.seed): \(sent)")
                let kept = try await other.rows(of: table).query(RowQuery(table: table)).rows.map(\.id)
                #expect(kept.sorted() == found.sorted(), "seed \(Self.seed): \(sent)")
            }
            try await other.close()
        }
        try await store.close()
    }
}
