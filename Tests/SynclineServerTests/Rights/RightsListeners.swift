// Listeners of every user: each must be told of the changes that it may see, and of no others.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

struct RightsListeners {
    private static let tables: Set = ["note", "entry"]
    private var plan = EventPlan<String>()
    private(set) var told = 0

    init() {
        for user in RightsWorld.users { _ = plan.add(user, EventInterest(Self.tables, subject: user)) }
    }

    mutating func hear(_ world: RightsWorld) throws {
        let before = plan.mark
        let news = try #require(world.desk.service.news(since: before, isWhole: true))
        for (user, tables) in plan.questions(news) {
            plan.learn(world.desk.service.buckets(tables, of: user, at: news.mark), of: user)
        }
        var heard: [String: Set<String>?] = [:]
        for (event, users) in plan.take(news) { for user in users { heard[user] = .some(event.tables) } }
        // Tables in memory don't say what changed.
        guard let before, news.tables != nil else { return }
        for user in RightsWorld.users {
            for table in Self.tables.sorted() {
                var asked = ChangePlan(table: table, since: before.change, until: news.mark.change, limit: 1)
                asked.subject = user
                let hasNews = try !world.desk.tables.changes(asked).changes.isEmpty
                let isTold = heard[user].map { $0?.contains(table) ?? true } ?? false
                told += isTold ? 1 : 0
                let place = "seed \(world.seed), step \(world.steps): \(user), \(table)"
                #expect(isTold || !hasNews, "\(place) is not told")
                let mayBe = hasNews || news.rights[table]?.changesRights ?? false
                #expect(!isTold || mayBe, "\(place) is told of hidden rows")
            }
        }
    }
}
