// The ledger on two devices: money to the last digit, and lists, pages and reports that are the same before and after a
// change is pushed.

import Foundation
import Syncline
import SynclineTesting
import Testing

@testable import LedgerApp

/// A device of a household.
private struct Device {
    let ledger: Ledger

    init(_ server: SimulatedServer) async throws {
        var configuration = SyncConfiguration(environment: ManualEnvironment())
        configuration.connect(to: SimulatedNetwork(server))
        ledger = try await Ledger(
            SyncDatabase.open(MemoryStorage(), configuration), in: TimeZone(identifier: "Europe/Berlin") ?? .gmt)
    }

    func sync() async throws {
        let report = try await ledger.database.sync(Ledger.tables)
        #expect(report.reason == nil)
    }
}

@Suite(.timeLimit(.minutes(10))) struct LedgerTests {
    private let server = SimulatedServer()

    init() {
        for table in Ledger.tables { server.setTable(table, rows: []) }
    }

    private static let start = Date(timeIntervalSince1970: 1_767_222_000)  // 1 January 2026 in Berlin

    private func date(_ hours: Double) -> Date { Self.start + hours * 3600 }

    @Test func `an entry that was just made is on the newest page, before and after its push`() async throws {
        let (phone, laptop) = (try await Device(server), try await Device(server))
        let account = try await laptop.ledger.accounts.insert(Account(name: "Giro"))
        for hour in 0..<60 {
            try await laptop.ledger.entries.insert(Entry(accountID: account.id, date: date(Double(hour)), amount: -1))
        }
        try await laptop.sync()
        try await phone.sync()
        let new = try await phone.ledger.entries.insert(
            Entry(accountID: account.id, date: date(60), amount: 0.07, text: "found"))
        for isPushed in [false, true] {
            if isPushed { try await phone.sync() }
            let page = try await phone.ledger.newest().get()
            #expect(page.count == 50 && page.first?.model.id == new.id && page.first?.related?.name == "Giro")
            #expect(page.map(\.model.date) == (11...60).reversed().map { date(Double($0)) })
            let latest = try await phone.ledger.entries.compute(.max(\.date))
            #expect(latest == date(60))
            #expect(try await phone.ledger.statement(of: account.id).first()?.amount == Decimal(string: "0.07"))
        }
        try await laptop.sync()
        let pages = (try await laptop.ledger.newest().get(), try await phone.ledger.newest().get())
        #expect(pages.0.map(\.model) == pages.1.map(\.model))
    }

    @Test func `cents add up`() async throws {
        let (phone, laptop) = (try await Device(server), try await Device(server))
        let (giro, cash) = (Account(name: "Giro"), Account(name: "Purse", kind: .cash))
        for account in [giro, cash] { try await phone.ledger.accounts.insert(account) }
        try await phone.ledger.entries.insert(Entry(accountID: giro.id, date: date(0), amount: 1))
        for hour in 1...9 {
            try await phone.ledger.transfer(0.10, from: giro.id, to: cash.id, at: date(Double(hour)))
        }
        let large = try #require(Decimal(string: "12345678901234567890.12"))
        try await phone.ledger.entries.insert(Entry(accountID: cash.id, date: date(800), amount: large))
        for device in [phone, laptop] {
            try await device.sync()
            #expect(try await device.ledger.balances() == [giro.id: 0.1, cash.id: large + 0.9])
            let months = try await device.ledger.months()
            #expect(
                months == [try #require(CalendarDay("2026-01-01")): 1, try #require(CalendarDay("2026-02-01")): large])
        }
    }

    @Test func `budgets count the months of the household's calendar`() async throws {
        let phone = try await Device(server)
        let food = try await phone.ledger.categories.insert(Category(name: "Food"))
        let january = try #require(CalendarDay("2026-01-01"))
        try await phone.ledger.budgets.insert(Budget(categoryID: food.id, month: january, limit: 100))
        let account = UUID()
        // The last second of the old year, the first of the new one, and the first of February.
        for second in [-1, 0, 31 * 86_400] as [TimeInterval] {
            try await phone.ledger.entries.insert(
                Entry(accountID: account, categoryID: food.id, date: Self.start + second, amount: -33.35))
        }
        for _ in 0..<2 {
            let budgets = try await phone.ledger.budgets(of: january)
            #expect(budgets.map(\.left) == [Decimal(string: "66.65")])
            try await phone.sync()
        }
    }

    @Test func `a rent is booked on the last day of each month`() async throws {
        let (phone, laptop) = (try await Device(server), try await Device(server))
        let rent = try await phone.ledger.orders.insert(
            StandingOrder(
                accountID: UUID(), amount: -700.50, text: "Rent", next: try #require(CalendarDay("2026-01-31"))))
        try await phone.sync()
        try await laptop.sync()
        let today = try #require(CalendarDay("2026-03-01"))
        while let due = try await laptop.ledger.due(on: today).first() { try await laptop.ledger.book(due) }
        try await laptop.sync()
        try await phone.sync()
        for device in [phone, laptop] {
            #expect(try await device.ledger.orders.get(id: rent.id)?.next.description == "2026-03-28")
            let days = try await device.ledger.entries.order(by: \.date).get().map {
                CalendarDay($0.date, in: device.ledger.zone)
            }
            #expect(days.map(\.description) == ["2026-01-31", "2026-02-28"])
            #expect(try await device.ledger.entries.compute(.sum(\.amount)) == -1401)
        }
    }

    @Test func `a server that spells ids and dates in its own way changes no list`() async throws {
        let phone = try await Device(server)
        let account = try await phone.ledger.accounts.insert(Account(name: "Giro"))
        try await phone.sync()
        server.upsert(
            [
                [
                    "id": "5d0ea2cc-0d5c-4f4f-a3b7-0b61d7e9a9f1",
                    "accountID": .string(account.id.uuidString.lowercased()),
                    "date": "2026-01-02T01:00:00.1234567+01:00", "amount": 0.1, "text": "other",
                ]
            ], in: Entry.table)
        try await phone.ledger.entries.insert(Entry(accountID: account.id, date: date(1), amount: 0.2))
        try await phone.sync()
        let query = phone.ledger.statement(of: account.id)
        #expect(try await query.get().map(\.text) == ["other", ""])
        #expect(try await query.explain().rowsRead == 2)
        #expect(try await phone.ledger.balances() == [account.id: 0.3])
    }
}
