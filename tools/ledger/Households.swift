// Who shares a ledger: a household begins, people are invited and removed, leave, and hand it over. Each is a change like
// any other, made offline and pushed later; the rules in `server.json` decide whether the user may.

import Foundation
import Syncline

extension Ledger {
    /// Begins a household of which the user is the owner and the first member.
    func begin(_ name: String, as user: String) async throws -> Household {
        try await database.transaction("Begin household") { transaction in
            let household = try transaction.insert(Household(owner: user, name: name), in: households)
            try transaction.insert(Member(householdID: household.id, user: user, role: .owner), in: members)
            return household
        }
    }

    /// The member's next pull brings everything of the household. Only owners delete what is in it.
    func invite(_ user: String, to household: Household.ID, as role: Member.Role = .member) async throws {
        try await members.insert(Member(householdID: household, user: user, role: role))
    }

    /// The owner removes a member, or a member leaves: the next pull takes everything of the household from their devices.
    func remove(_ user: String, from household: Household.ID) async throws {
        try await members.where { $0.householdID == household && $0.user == user }.delete()
    }

    /// Makes a member the owner. The former one stays an owner of what is in the household, and may leave.
    func handOver(_ household: Household.ID, to user: String) async throws {
        try await database.transaction("Hand over household") { transaction in
            let chosen = try transaction.get(members.where { $0.householdID == household && $0.user == user })
            guard !chosen.isEmpty else { throw SyncError(.rowAbsent, "\(user) is not a member") }
            for member in chosen { try transaction.update(id: member.id, in: members) { $0.role = .owner } }
            try transaction.update(id: household, in: households) { $0.owner = user }
        }
    }

    /// Deletes a household with everything in it. What gives the owner the right to see and delete the rest goes last.
    func delete(_ household: Household.ID) async throws {
        try await database.transaction("Delete household") { transaction in
            guard let home = try transaction.get(id: household, in: households) else { return }
            let accounts = accounts.where { $0.householdID == household }
            let categories = categories.where { $0.householdID == household }
            for account in try transaction.get(accounts) {
                try transaction.delete(entries.where { $0.accountID == account.id })
                try transaction.delete(orders.where { $0.accountID == account.id })
            }
            for category in try transaction.get(categories) {
                try transaction.delete(budgets.where { $0.categoryID == category.id })
            }
            try transaction.delete(accounts)
            try transaction.delete(categories)
            try transaction.delete(members.where { $0.householdID == household && $0.user != home.owner })
            try transaction.delete(members.where { $0.householdID == household })
            try transaction.delete(id: household, in: households)
        }
    }
}

// MARK: Users of the device

extension Ledger {
    /// Signs the user out: nothing of theirs stays. Throws `pending-changes`, and keeps everything, while changes wait that
    /// only this user's token may send; `losingChanges` gives them up.
    func signOut(losingChanges: Bool = false) async throws {
        if !losingChanges { _ = try await database.push() }
        try await database.erase(force: losingChanges)
    }
}
