// Random histories of a table with dates, UUIDs and amounts on two devices and a server that spells them as it likes. After
// each step, lists, pages, extremes, groups, sums, live lists and SQL are those of the models, compared in Swift.

import Foundation
import SegmentLog
import Syncline
import SynclineSQL
import SynclineTesting
import Testing

private struct Booking: SyncModel, Hashable {
    static let table = "booking"

    var id: String
    var at: Date?
    var owner: UUID?
    var amount: Decimal?
    var n: Int?
}

extension Chance {
    fileprivate mutating func moment() -> Date {
        Date(timeIntervalSince1970: Double(below(6)) * 21_600 + (once(in: 2) ? 0 : 0.25))
    }

    fileprivate mutating func owner() -> UUID {
        let letter = UInt8(below(4))
        return UUID(uuid: (0xab, 0xcd, 0xef, letter, 0, 0xff, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x0a))
    }

    fileprivate mutating func amount() -> Decimal {
        let large = once(in: 8) ? Decimal(string: "12345678901234567890.12") ?? 0 : 0
        return Decimal(below(500) - 250) / 100 + large
    }

    fileprivate mutating func booking(_ id: String) -> Booking {
        Booking(
            id: id, at: once(in: 6) ? nil : moment(), owner: once(in: 6) ? nil : owner(),
            amount: once(in: 6) ? nil : amount(), n: once(in: 6) ? nil : below(3))
    }

    /// A row as another client of the server would spell it.
    fileprivate mutating func spelled(_ booking: Booking) -> Value {
        var members: [Value.Member] = [.init("id", .string(booking.id))]
        if let at = booking.at {
            let zone = pick([Timestamp.Zone.utc, .offset(120), .offset(-330)])
            let instant = Timestamp.Instant(milliseconds: Int64(at.timeIntervalSince1970 * 1000))
            members.append(.init("at", .string(Timestamp(instant, decimals: pick([3, 7]), zone: zone).description)))
        }
        if let owner = booking.owner?.uuidString {
            members.append(.init("owner", .string(pick([owner, owner.lowercased(), owner.capitalized]))))
        }
        if let amount = booking.amount {
            let text = "\(amount)"
            let padded = text.contains(".") ? text + "00" : text + ".0"
            members.append(.init("amount", Value(number: pick([text, padded, text + "e0"])) ?? .null))
        }
        if let n = booking.n { members.append(.init("n", Value(number: pick(["\(n)", "\(n).0"])) ?? .null)) }
        return .object(members)
    }
}

/// A device, and what its queries must answer.
private struct Device {
    let database: SyncDatabase
    let table: SyncTable<Booking>

    init(_ server: SimulatedServer, _ chance: inout Chance) async throws {
        var configuration = SyncConfiguration(
            serverProtocol: server.serverProtocol, environment: ManualEnvironment())
        configuration.connect(to: SimulatedNetwork(server))
        database = try await SyncDatabase.open(MemoryStorage(), configuration)
        table = try database.table(Booking.self)
        if chance.once(in: 2) { try await table.declareIndex(\.at) }
        if chance.once(in: 2) { try await table.declareIndex(\.owner, \.amount) }
    }

    /// Pushes and pulls; what is in conflict is decided by chance.
    func sync(_ chance: inout Chance) async throws {
        let policy = chance.pick([ConflictPolicy.fail, .merge, .clientWins, .serverWins])
        _ = try await database.sync(SyncSettings(tables: [Booking.table], push: PushSettings(policy: policy)))
        for conflict in try await database.conflicts() {
            let choice: ConflictDecision = chance.once(in: 2) ? .takeServer : .keepMine
            try await database.resolve(table: conflict.table, id: conflict.id, choice)
        }
    }

    /// Pushes and pulls all rows; what is in conflict is the server's.
    func settle() async throws {
        for conflict in try await database.conflicts() {
            try await database.resolve(table: conflict.table, id: conflict.id, .takeServer)
        }
        let settings = SyncSettings(tables: [Booking.table], push: PushSettings(policy: .serverWins))
        #expect(try await database.sync(settings).reason == nil)
        // The server removes rows without a trace.
        _ = try await database.pull(Booking.table, PullSettings(reconciles: true))
    }

    func change(_ chance: inout Chance) async throws {
        let id = "r\(chance.below(12))"
        let new = chance.booking(id)
        if try await table.get(id: id) == nil {
            try await table.insert(new)
        } else if chance.once(in: 5) {
            try await table.delete(id: id)
        } else {
            let column = chance.below(4)
            try await table.update(id: id) { row in
                switch column {
                case 0: row.at = new.at
                case 1: row.owner = new.owner
                case 2: row.amount = new.amount
                default: row.n = new.n
                }
            }
        }
    }

    // MARK: What the models say

    private static func sorted<Key: Comparable>(
        _ all: [Booking], by key: (Booking) -> Key?, descending: Bool
    ) -> [String] {
        all.sorted { left, right in
            switch (key(left), key(right)) {
            case (nil, nil): left.id < right.id
            case (nil, _): !descending
            case (_, nil): descending
            case (let one?, let other?) where one == other: left.id < right.id
            case (let one?, let other?): (one < other) != descending
            }
        }.map(\.id)
    }

    func check(_ chance: inout Chance) async throws {
        let all = try await table.all()
        let isDescending = chance.once(in: 2)
        let way: SortDirection = isDescending ? .descending : .ascending
        let byDate = Self.sorted(all, by: \.at, descending: isDescending)
        try #require(try await table.order(by: \.at, way).get().map(\.id) == byDate)
        let top = chance.below(8)
        try #require(try await table.order(by: \.at, way).limit(top).get().map(\.id) == Array(byDate.prefix(top)))
        let byAmount = Self.sorted(all, by: \.amount, descending: isDescending)
        try #require(try await table.order(by: \.amount, way).get().map(\.id) == byAmount)
        let byOwner = Self.sorted(all, by: { $0.owner?.uuidString }, descending: isDescending)
        try #require(try await table.order(by: \.owner, way).get().map(\.id) == byOwner)

        let (owner, moment, amount) = (chance.owner(), chance.moment(), chance.amount())
        let owned = try await table.where { $0.owner == owner }.get().map(\.id)
        try #require(owned == all.filter { $0.owner == owner }.map(\.id))
        let later = try await table.where { $0.at >= moment && $0.amount < amount }.count()
        try #require(
            later == all.count { ($0.at ?? .distantPast) >= moment && ($0.amount.map { $0 < amount } ?? false) })

        let (sum, first, last, most) = try await table.compute(
            .sum(\.amount), .min(\.at), .max(\.at), .max(\.amount))
        try #require(sum == all.compactMap(\.amount).reduce(0, +))
        try #require(first == all.compactMap(\.at).min() && last == all.compactMap(\.at).max())
        try #require(most == all.compactMap(\.amount).max())
        let groups = try await table.grouped(by: \.owner).compute(.count, .sum(\.amount))
        let expected = Dictionary(grouping: all, by: \.owner)
        try #require(groups.mapValues(\.0) == expected.mapValues(\.count))
        try #require(groups.mapValues(\.1) == expected.mapValues { $0.compactMap(\.amount).reduce(0, +) })
        try await checkSQL(all, owner, moment)
    }

    private func checkSQL(_ all: [Booking], _ owner: UUID, _ moment: Date) async throws {
        let ids = try await database.sql("select id from booking order by at, id").map { $0.values[0] }
        try #require(ids == Self.sorted(all, by: \.at, descending: false).map { .string($0) })
        let text = Timestamp(.init(milliseconds: Int64(moment.timeIntervalSince1970 * 1000))).description
        let counts = try await database.sql(
            "select sum(owner = ?), sum(at >= ?) from booking",
            [.string(owner.uuidString.lowercased()), .string(text)])
        let (owned, later) = (all.count { $0.owner == owner }, all.count { $0.at.map { $0 >= moment } ?? false })
        let some = { (count: Int, isKnown: Bool) -> Value in isKnown ? .integer(Int64(count)) : .null }
        try #require(
            counts.map(\.values)
                == [[some(owned, all.contains { $0.owner != nil }), some(later, all.contains { $0.at != nil })]])
        let sums = try await database.sql(
            "select count(*), cast(decimal_sum(amount) as text) as total from booking group by owner order by owner")
        let groups = Dictionary(grouping: all, by: \.owner).sorted {
            ($0.key?.uuidString ?? "") < ($1.key?.uuidString ?? "")
        }
        try #require(sums.map { $0.values[0] } == groups.map { .integer(Int64($0.value.count)) })
        for (row, group) in zip(sums, groups) {
            let amounts = group.value.compactMap(\.amount)
            guard case .string(let total) = row.values[1] else {
                try #require(amounts.isEmpty)
                continue
            }
            try #require(Decimal(string: total) == amounts.reduce(0, +))
        }
    }
}

@Suite(.timeLimit(.minutes(60))) struct TypedHistoryTests {
    @Test(arguments: Seeds.some(20))
    func `two devices and a server agree about what values mean`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let server = SimulatedServer(chance.once(in: 2) ? .zumo2 : .datasync3)
        server.setTable(Booking.table, rows: [])
        let devices = [try await Device(server, &chance), try await Device(server, &chance)]
        for _ in 0..<25 {
            let device = chance.pick(devices)
            switch chance.below(6) {
            case 0:
                let row = chance.booking("r\(chance.below(12))")
                server.upsert([chance.spelled(row)], in: Booking.table)
            case 1: server.remove(["r\(chance.below(12))"], from: Booking.table)
            case 2: try await device.sync(&chance)
            default: try await device.change(&chance)
            }
            try await device.check(&chance)
        }
        for device in devices + devices { try await device.settle() }
        let (one, other) = (try await devices[0].table.all(), try await devices[1].table.all())
        let apart = Set(one).symmetricDifference(other)
        try #require(apart.isEmpty, "\(apart)\n\(server.rows(of: Booking.table))")
        for device in devices { try await device.check(&chance) }
    }
}
