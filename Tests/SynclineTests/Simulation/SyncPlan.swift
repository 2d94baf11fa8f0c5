// A history of some stores, a server and faults between them, generated from a seed. Every step has a seed of its
// own, so that the others stay the same when steps are left out.

import SegmentLog
import SynclineCore
import SynclineTesting

/// What fails, or happens, while a store talks to the server.
struct SyncTrouble: Hashable {
    /// How many requests in a thousand get a fault, and before how many another client changes rows.
    var faults = 0
    var others = 0
    /// During how many requests in a thousand the app changes rows.
    var changes = 0
    /// The request at which the store ends, and how far that request had come.
    var end: (request: Int, isHandled: Bool)?
    /// The disk call from which on every call fails.
    var disk: Int?

    static func == (left: Self, right: Self) -> Bool { "\(left)" == "\(right)" }
    func hash(into hasher: inout Hasher) { hasher.combine("\(self)") }
}

struct SyncStep: Hashable, CustomStringConvertible {
    enum Action: Hashable {
        case change(count: Int, isTransaction: Bool, Durability)
        case undo
        case push(policy: Int, concurrency: Int, table: String?)
        /// The client's own query of a table, or all of it, or some of it.
        case pull(String, Reach, reconciles: Bool, pushesFirst: Bool)
        case others(count: Int)
        case resolve
        case purge(String, isForced: Bool)
        case resetCursor(String)
        case drop(isForced: Bool)
        case checkpoint
        case reopen
        case end
    }

    enum Reach: Hashable {
        case own, all, top, ordered
    }

    var client: Int
    var seed: UInt64
    var action: Action
    var trouble = SyncTrouble()

    var description: String {
        var text = "client \(client): \(action)"
        if trouble.faults > 0 { text += " faults \(trouble.faults)‰" }
        if trouble.others > 0 { text += " others \(trouble.others)‰" }
        if trouble.changes > 0 { text += " changes \(trouble.changes)‰" }
        if let end = trouble.end { text += " ends at request \(end.request)\(end.isHandled ? ", handled" : "")" }
        if let disk = trouble.disk { text += " disk fails from call \(disk)" }
        return text
    }
}

struct SyncPlan {
    /// What a client keeps of a table.
    struct OwnQuery: Hashable {
        var queryID: String?
        var filter: String?
        var pageSize: Int
    }

    static let tables = ["t", "u"]
    static let localColumn = "local"

    /// Whether lists show everything that was answered before. An audit depends on that.
    var listsShowAll: Bool { options.lag == 0 && options.lateCommits == nil }

    let seed: UInt64
    let server: ServerProtocol
    let options: SimulatedServer.Options
    let precision: SimulatedServer.Precision
    let pageLimit: Int
    /// Whether the app has a local column in the table `t`.
    let hasLocalColumn: Bool
    /// By client and table.
    let queries: [[String: OwnQuery]]
    var steps: [SyncStep] = []
    /// Whether several operations of a push may be in flight: then only the end is the same each time.
    let isConcurrent: Bool

    init(seed: UInt64) {
        self.seed = seed
        var chance = Chance(seed: seed)
        server = chance.pick([.zumo2, .datasync3])
        var options = SimulatedServer.Options()
        options.deletesForGood = chance.once(in: 3)
        options.recognizesOperations = chance.once(in: 2)
        options.tellsTime = !chance.once(in: 4)
        // With a seed of their own, so that the rest of a history does not depend on them.
        var kinds = Chance(seed: seed ^ 0x51_7c_c1_b7)
        options.ignoresCase = kinds.once(in: 4)
        if kinds.once(in: 4) { options.lag = 1 + kinds.below(3) }
        if kinds.once(in: 4) { options.lateCommits = .init(every: 2 + kinds.below(3), reads: 1 + kinds.below(3)) }
        hasLocalColumn = kinds.once(in: 3)
        options.takesBatches = kinds.once(in: 3)
        if kinds.once(in: 3) {
            // A server that numbers its changes shows each as soon as it has a number.
            options.tellsChanges = true
            options.lag = 0
            options.lateCommits = nil
        }
        options.undeletes = !kinds.once(in: 4)
        self.options = options
        precision = chance.pick([.milliseconds, .microseconds])
        pageLimit = chance.pick([1, 2, 3, 5, 7, 50])
        isConcurrent = chance.once(in: 4)
        let clients = 1 + chance.below(3)
        var queries: [[String: OwnQuery]] = []
        for _ in 0..<clients {
            var own: [String: OwnQuery] = [:]
            for table in SyncPlan.tables {
                let hasID = !chance.once(in: 4)
                own[table] = OwnQuery(
                    queryID: hasID ? "q" : nil,
                    filter: chance.pick([nil, nil, "kind eq 1", "kind ge 1 or name eq 'x'"]),
                    pageSize: 1 + chance.below(8))
            }
            queries.append(own)
        }
        self.queries = queries
        for _ in 0..<(6 + chance.below(30)) { steps.append(SyncPlan.step(&chance, clients, isConcurrent)) }
    }

    private static func step(_ chance: inout Chance, _ clients: Int, _ isConcurrent: Bool) -> SyncStep {
        var step = SyncStep(client: chance.below(clients), seed: chance.next(), action: .undo)
        let table = chance.pick(tables)
        switch chance.below(40) {
        case 0..<13:
            step.action = .change(
                count: 1 + chance.below(4), isTransaction: chance.once(in: 3),
                chance.pick([.durable, .durable, .ordered, .buffered]))
        case 13: step.action = .undo
        case 14..<21:
            step.action = .push(
                policy: chance.below(8), concurrency: isConcurrent ? 1 + chance.below(4) : 1,
                table: chance.once(in: 5) ? table : nil)
        case 21..<29:
            step.action = .pull(
                table, chance.pick([.own, .own, .own, .all, .top, .ordered]), reconciles: chance.once(in: 3),
                pushesFirst: !chance.once(in: 3))
        case 29, 30: step.action = .others(count: 1 + chance.below(6))
        case 31..<35: step.action = .resolve
        case 35 where chance.once(in: 2): step.action = .purge(table, isForced: chance.once(in: 2))
        case 36 where chance.once(in: 2): step.action = .resetCursor(table)
        case 37: step.action = .checkpoint
        case 39: step.action = .drop(isForced: chance.once(in: 2))
        case 38: step.action = .reopen
        default: step.action = .end
        }
        step.trouble = trouble(&chance)
        return step
    }

    private static func trouble(_ chance: inout Chance) -> SyncTrouble {
        var trouble = SyncTrouble()
        if chance.once(in: 2) { trouble.faults = chance.pick([50, 200, 500]) }
        if chance.once(in: 2) { trouble.others = chance.pick([100, 400]) }
        if chance.once(in: 3) { trouble.changes = chance.pick([100, 400]) }
        if chance.once(in: 7) { trouble.end = (1 + chance.below(6), chance.once(in: 2)) }
        if chance.once(in: 12) { trouble.disk = 1 + chance.below(60) }
        return trouble
    }
}

/// A violation found by a simulation.
struct SyncFailure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
