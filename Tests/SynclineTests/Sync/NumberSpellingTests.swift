// Numbers that no integer and no double holds, and other spellings: what the app did not change goes back as it came.

import Foundation
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

private struct Priced: SyncModel {
    static let table = "t"
    var id: String
    var big: UInt64
    var price: Decimal
    var half: Double
    var z: Int
}

@Suite struct NumberSpellingTests {
    private static let spellings = [
        "18446744073709551615", "-18446744073709551615", "12345678901234567890.12", "0.12345678901234567890123",
        "1E400",
        "-1e-400", "1.0", "1.50", "1e3", "-0", "-0.0", "0.10", "9007199254740993", "100.000", "1e22",
        "123456789012345678901234567890123456789012345678901234567890",
    ]

    /// A server with one row, which answers a write with what it was sent.
    private final class Server: Sendable {
        let columns: Mutex<String>
        let version = Atomic<Int64>(1)
        let sent = Mutex<[[UInt8]]>([])

        init(_ columns: String) { self.columns = Mutex(columns) }

        var row: String {
            let number = version.load(ordering: .relaxed)
            return #"{"id":"a",\#(columns.withLock { $0 }),"version":"v\#(number)","#
                + #""updatedAt":"2026-01-01T00:00:00.00\#(number)Z","createdAt":"2026-01-01T00:00:00Z","deleted":false}"#
        }

        func answer(_ request: HTTPRequest) -> HTTPResponse {
            guard request.method != "GET" else {
                return .json(200, request.path.hasSuffix("/a") ? row : #"{"items":[\#(row)],"count":1}"#)
            }
            sent.withLock { $0.append(request.body ?? []) }
            if request.method == "POST" {
                let item = String(decoding: request.body ?? [], as: UTF8.self).dropLast()
                return .json(201, item + #","version":"v1","updatedAt":"2026-01-01T00:00:00Z","deleted":false}"#)
            }
            _ = version.add(1, ordering: .relaxed)
            return .json(200, row)
        }
    }

    private struct Store {
        let server: Server
        var disk = MemoryStorage(granularity: .sector)
        var database: SyncDatabase
        private let configuration: SyncConfiguration

        init(_ columns: String, _ serverProtocol: ServerProtocol = .datasync3) async throws {
            let server = Server(columns)
            self.server = server
            var configuration = SyncConfiguration.test()
            configuration.serverProtocol = serverProtocol
            configuration.transport = PlayedLine { .success(server.answer($0)) }
            self.configuration = configuration
            database = try await SyncDatabase.open(disk, configuration)
        }

        mutating func die() async throws {
            disk = disk.processKill()
            database = try await SyncDatabase.open(disk, configuration)
        }

        var table: RowTable { database.rows(of: "t") }

        func lastSent() throws -> [String: String] {
            let texts = try JSONScanner.memberTexts(try #require(server.sent.withLock { $0.last }))
            return Dictionary(texts.map { ($0.key.text, $0.value) }) { $1 }
        }
    }

    private static let columns =
        spellings.enumerated().map { #""c\#($0.offset)":\#($0.element)"# } + [
            #""list":[\#(spellings.joined(separator: ","))]"#, #""nested":{"a":{"b":1.50,"c":[1E400]}}"#, #""z":1"#,
        ]

    private static func check(_ texts: [String: String]) {
        for (place, spelling) in spellings.enumerated() { #expect(texts["c\(place)"] == spelling) }
        #expect(texts["list"] == "[\(spellings.joined(separator: ","))]")
        #expect(texts["nested"] == #"{"a":{"b":1.50,"c":[1E400]}}"#)
    }

    @Test func `every number goes back as it came, also after a restart, an undo and the server's row`() async throws {
        var store = try await Store(Self.columns.joined(separator: ","))
        #expect(try await store.database.pull("t").reason == nil)
        try await store.die()
        try await store.table.update(.item("a", ["z": .integer(2)]))
        _ = try await store.database.push()
        Self.check(try store.lastSent())
        #expect(try store.lastSent()["z"] == "2")
        // Undone, the columns have their digits again.
        try await store.database.transaction { transaction in
            for place in Self.spellings.indices { try transaction.update("t", .item("a", ["c\(place)": .integer(7)])) }
            try transaction.update("t", .item("a", ["list": .null, "nested": .null]))
        }
        try await store.database.undo()
        try await store.database.compact()
        try await store.die()
        try await store.table.update(.item("a", ["z": .integer(3)]))
        _ = try await store.database.push()
        Self.check(try store.lastSent())
        // A conflict that takes the server's row.
        try await store.table.update(.item("a", ["c0": .integer(7)]))
        store.server.columns.withLock {
            $0 = $0.replacing("18446744073709551615", with: "18446744073709551617", maxReplacements: 1)
        }
        _ = store.server.version.add(1, ordering: .relaxed)
        #expect(try await store.database.pull("t", PullSettings(pushesFirst: false)).conflicts == 1)
        try await store.database.resolve(table: "t", id: "a", .takeServer)
        try await store.table.update(.item("a", ["z": .integer(4)]))
        _ = try await store.database.push()
        #expect(try store.lastSent()["c0"] == "18446744073709551617")
        #expect(try StateImage.check(store.disk, "the fold").through > 0)
    }

    @Test(arguments: [ColumnType.any, .decimal, .number, .date, .uuid])
    func `every spelling of a long list goes back as it came`(_ type: ColumnType) async throws {
        let spellings = Spellings.json(11)
        #expect(spellings.count > 500)
        let columns = spellings.enumerated().map { "\"c\($0.offset)\":\($0.element)" }
        var store = try await Store((columns + ["\"z\":1"]).joined(separator: ","))
        if type != .any {
            let names = spellings.indices.map { ("c\($0)", type) }
            try await store.database.declareColumns(table: "t", Dictionary(names) { $1 })
        }
        #expect(try await store.database.pull("t").reason == nil)
        try await store.die()
        try await store.table.update(.item("a", ["z": .integer(2)]))
        _ = try await store.database.push()
        let sent = try store.lastSent()
        #expect(sent["z"] == "2")
        for (place, spelling) in spellings.enumerated() { #expect(sent["c\(place)"] == spelling) }
    }

    @Test func `another spelling of the same meaning changes nothing, and other digits stay`() async throws {
        let store = try await Store(Self.columns.joined(separator: ","))
        _ = try await store.database.pull("t")
        let before = store.database.lastEvent
        let row = try #require(try await store.table.get(id: "a"))
        try await store.table.update(.object([.init("id", .string("a"))] + row.columns.members))
        for (place, spelling) in Self.spellings.enumerated() where spelling != "9007199254740993" {
            guard let double = Double(spelling), double.isFinite else { continue }
            try await store.table.update(.item("a", ["c\(place)": .double(double)]))
        }
        #expect(store.database.lastEvent == before)
        try await store.table.update(.item("a", ["z": .double(1)]))
        #expect(try await store.database.pending().count == 1, "an integer and a double are two values")
    }

    @Test func `what the app writes is sent as it spelled it, and what nothing holds is refused`() async throws {
        for serverProtocol in ServerProtocol.allCases {
            let store = try await Store(#""z":1,"big":18446744073709551615"#, serverProtocol)
            _ = try await store.database.pull("t")
            let item = try Value(json: Array(#"{"id":"b","x":1.50,"y":[1e3,{"k":0.10}]}"#.utf8))
            try await store.table.insert(item)
            for text in ["18446744073709551615", "1E400", "[1,{\"a\":-1e309}]", "123456789012345678901234567890"] {
                let json = #"{"id":"c","x":\#(text)}"#
                await #expect {
                    try await store.table.insert(try Value(json: Array(json.utf8)))
                } throws: {
                    ($0 as? SyncError)?.code == .invalidItem
                }
                let update = #"{"id":"a","z":\#(text)}"#
                await #expect(throws: SyncError.self) {
                    try await store.table.update(try Value(json: Array(update.utf8)))
                }
            }
            // The row has it already.
            try await store.table.update(
                try Value(json: Array(#"{"id":"a","z":2,"big":18446744073709551615}"#.utf8)))
            _ = try await store.database.push()
            let bodies = try store.server.sent.withLock { $0 }.map { try JSONScanner.memberTexts($0) }
            let inserted = try #require(bodies.first { $0["id"] == #""b""# })
            #expect(inserted["x"] == "1.50" && inserted["y"] == #"[1e3,{"k":0.10}]"#)
            let updated = try #require(bodies.first { $0["z"] == "2" })
            #expect(updated["big"] == (serverProtocol == .datasync3 ? "18446744073709551615" : nil))
        }
    }

    @Test func `filters, orders, indexes and sums see what a number means`() async throws {
        let store = try await Store(#""z":1"#)
        let numbers = [
            "9223372036854775807", "9223372036854775808", "18446744073709551615", "1.50", "1.5", "1E400", "-1E400",
            "-0",
        ]
        let rows = try numbers.enumerated().map { place, spelling in
            PulledRow(id: "r\(place)", row: Row([.init("n", try #require(Value(number: spelling)))]))
        }
        try await store.database.pull(PulledPage(table: "t", queryID: nil, rows: rows, cursor: nil))
        for isIndexed in [false, true] {
            if isIndexed { try await store.database.declareIndex(table: "t", column: "n") }
            func ids(_ filter: String) async throws -> [String] {
                let filter = try FilterExpression(parsing: filter)
                return try await store.table.query(RowQuery(table: "t", filter: filter)).rows.map(\.id)
            }
            #expect(try await ids("n gt 9223372036854775807") == ["r1", "r2", "r5"])
            #expect(try await ids("n eq 18446744073709551615") == ["r2"])
            #expect(try await ids("n in (9223372036854775808,1.5)") == ["r1", "r3", "r4"])
            #expect(try await ids("n eq 1.50") == ["r3", "r4"])
            #expect(try await ids("n lt -1e308") == ["r6"])
            #expect(try await ids("n eq 0") == ["r7"])
            #expect(try await ids("n ge 1e400") == ["r5"])
            let sorted = try await store.table.query(RowQuery(table: "t", order: [.init("n", descending: true)])).rows
            #expect(sorted.map(\.id) == ["r5", "r2", "r1", "r0", "r3", "r4", "r7", "r6"])
        }
    }

    @Test func `a model reads and writes such a row without changing what it does not change`() async throws {
        let store = try await Store(
            #""big":18446744073709551615,"price":12345678901234567890.12,"half":0.50,"z":1"#)
        _ = try await store.database.pull("t")
        let table = try store.database.table(Priced.self)
        var model = try #require(try await table.get(id: "a"))
        #expect(model.big == .max && model.price == Decimal(string: "12345678901234567890.12") && model.half == 0.5)
        let before = store.database.lastEvent
        try await table.overwrite(model)
        #expect(store.database.lastEvent == before)
        model.z = 2
        try await table.overwrite(model)
        #expect(try await store.database.pending().count == 1)
        _ = try await store.database.push()
        let sent = try store.lastSent()
        #expect(sent["big"] == "18446744073709551615" && sent["price"] == "12345678901234567890.12")
        #expect(sent["half"] == "0.50" && sent["z"] == "2")
        model.big -= 1
        await #expect(throws: SyncError.self) { try await table.overwrite(model) }
    }
}
