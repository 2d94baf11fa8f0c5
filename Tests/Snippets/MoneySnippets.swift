// The code of the page about money.

import Foundation
import Syncline

enum MoneySnippets {
    struct Entry: SyncModel {
        var id = SyncID.make()
        var amount: Decimal
        var spent: Date
    }

    static func total(_ database: SyncDatabase) async throws -> Decimal {
        let entries = try database.table(Entry.self)
        let total = try await entries.where { $0.amount < 0 }.compute(.sum(\.amount))
        return total
    }
}
