// The ledger's tables, and what its screens show and do. Everything here works without a network.

import Foundation
import Syncline

struct Ledger: Sendable {
    static let tables = [
        Household.table, Member.table, Account.table, Category.table, Entry.table, Budget.table, StandingOrder.table,
    ]

    let database: SyncDatabase
    let households: SyncTable<Household>
    let members: SyncTable<Member>
    let accounts: SyncTable<Account>
    let categories: SyncTable<Category>
    let entries: SyncTable<Entry>
    let budgets: SyncTable<Budget>
    let orders: SyncTable<StandingOrder>
    /// The zone by whose calendar days and months are told apart.
    let zone: TimeZone

    init(_ database: SyncDatabase, in zone: TimeZone) async throws {
        self.database = database
        self.zone = zone
        households = try database.table(Household.self)
        members = try database.table(Member.self)
        accounts = try database.table(Account.self)
        categories = try database.table(Category.self)
        entries = try database.table(Entry.self)
        budgets = try database.table(Budget.self)
        orders = try database.table(StandingOrder.self)
        try await entries.declareIndex(\.date)
        try await entries.declareIndex(\.accountID, \.date)
    }
}

// MARK: Screens

extension Ledger {
    /// The newest entries, each with its account.
    func newest(_ count: Int = 50) -> RelatedQuery<Entry, Account?> {
        entries.order(by: \.date, .descending).limit(count).with(Entry.account)
    }

    /// The entries of an account, the newest first.
    func statement(of account: Account.ID) -> SyncQuery<Entry> {
        entries.where { $0.accountID == account }.order(by: \.date, .descending)
    }

    /// What is in each account with entries.
    func balances() async throws -> [Account.ID: Decimal] {
        try await entries.grouped(by: \.accountID).compute(.sum(\.amount))
    }

    /// What each month left over, by the first day of the month.
    func months() async throws -> [CalendarDay: Decimal] {
        try await entries.grouped(by: { $0.date.firstOfMonth(in: zone) }).compute(.sum(\.amount))
    }

    /// The budgets of a month, each with what is left of it.
    func budgets(of month: CalendarDay) async throws -> [(budget: Budget, left: Decimal)] {
        let next = month.adding(days: 31).firstOfMonth
        let dates = month.dates(in: zone).lowerBound..<next.dates(in: zone).lowerBound
        let spent = try await entries.where { $0.date.isIn(dates) }.grouped(by: \.categoryID).compute(.sum(\.amount))
        return try await budgets.where { $0.month == month }.get().map { budget in
            (budget, budget.limit + (spent[budget.categoryID] ?? 0))
        }
    }

    /// The standing orders that are due on a day.
    func due(on day: CalendarDay) -> SyncQuery<StandingOrder> {
        orders.where { $0.next <= day }.order(by: \.next)
    }
}

// MARK: Changing

extension Ledger {
    /// Moves money: both entries or neither.
    func transfer(_ amount: Decimal, from: Account.ID, to: Account.ID, at date: Date) async throws {
        try await database.transaction { transaction in
            try transaction.insert(Entry(accountID: from, date: date, amount: -amount), in: entries)
            try transaction.insert(Entry(accountID: to, date: date, amount: amount), in: entries)
        }
    }

    /// Books a standing order on the day it is due, and moves it on by a month.
    func book(_ order: StandingOrder) async throws {
        let date = order.next.dates(in: zone).lowerBound
        try await database.transaction { transaction in
            try transaction.insert(
                Entry(accountID: order.accountID, date: date, amount: order.amount, text: order.text), in: entries)
            try transaction.update(id: order.id, in: orders) { $0.next = order.nextMonth }
        }
    }
}

extension StandingOrder {
    /// The same day of the next month, or its last day.
    fileprivate var nextMonth: CalendarDay {
        let first = next.firstOfMonth.adding(days: 31).firstOfMonth
        let last = first.adding(days: 31).firstOfMonth.adding(days: -1)
        return first.adding(days: min(next.day, last.day) - 1)
    }
}
