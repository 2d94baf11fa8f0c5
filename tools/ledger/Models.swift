// The models of a household's ledger: money is a `Decimal`, a booking has a date, a budget a month, and rows refer to each
// other by UUID.

import Foundation
import Syncline

/// People who share accounts. Users are named as in their tokens.
struct Household: SyncModel, Hashable {
    var id = UUID()
    var owner: String
    var name: String
}

struct Member: SyncModel, Hashable {
    enum Role: String, Codable, CaseIterable, Sendable {
        case member, owner
    }

    var id = UUID()
    var householdID: UUID
    var user: String
    var role = Role.member
}

struct Account: SyncModel, Hashable {
    enum Kind: String, Codable, CaseIterable, Sendable {
        case cash, bank, card
    }

    var id = UUID()
    var householdID: UUID?
    var name: String
    var kind = Kind.bank
}

struct Category: SyncModel {
    var id = UUID()
    var householdID: UUID?
    var name: String
}

struct Entry: SyncModel, Hashable {
    static let account = Relation(\Entry.accountID, to: Account.self)
    static let category = Relation(\Entry.categoryID, to: Category.self)

    var id = UUID()
    var accountID: UUID
    var categoryID: UUID?
    var date: Date
    /// Negative for what is spent.
    var amount: Decimal
    var text = ""
}

struct Budget: SyncModel {
    var id = UUID()
    var categoryID: UUID
    /// The first day of the month.
    var month: CalendarDay
    var limit: Decimal
}

/// A payment that comes again each month, such as a rent.
struct StandingOrder: SyncModel {
    var id = UUID()
    var accountID: UUID
    var amount: Decimal
    var text: String
    var next: CalendarDay
}
