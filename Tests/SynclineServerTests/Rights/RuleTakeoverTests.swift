// Starts with changed rules that fail at each of their questions to the database: afterwards the old rules are in force or
// the new ones, whichever a server starts with next, and no client has anything of a mixture.

import SynclineCore
import SynclineTables
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct RuleTakeoverTests {
    @Test(
        arguments: TestBackend.available, [(RightsWorld.Rules.usual, QuestionFault.Kind.killed), (.strict, .refused)])
    func `a start that fails anywhere leaves the old rules or the new ones`(
        _ backend: TestBackend, _ fault: (rules: RightsWorld.Rules, kind: QuestionFault.Kind)
    ) throws {
        var takeover = try RuleTakeover(backend)
        let places = try takeover.fail(fault.rules, fault.kind)
        #expect(places > 25)
    }

    @Test(arguments: TestBackend.available)
    func `clients that come late have what the rules in force say`(_ backend: TestBackend) throws {
        for seed in RightsModelTests.seeds {
            var takeover = try RuleTakeover(backend, seed)
            try takeover.alternate()
        }
    }
}

/// A database whose servers take turns with two sets of rules.
struct RuleTakeover {
    private let seed: UInt64
    private let store: String
    private let keeper: AnyObject
    private let database: any SQLDatabase
    private var world: RightsWorld
    /// Each has its cursor from the beginning on.
    private var clients: [RightsClient]

    init(_ backend: TestBackend, _ seed: UInt64 = 9) throws {
        self.seed = seed
        let environment = StillEnvironment()
        (store, keeper) = try backend.store(as: environment)
        database = try TestBackend.open(store)
        world = RightsWorld(
            try ServiceDesk(database, environment, keeper, tables: RightsWorld.Rules.usual.tables, pageSize: 7),
            seed: seed)
        clients = RuleTakeover.clients(.feed)
        for _ in 0..<3 {
            for _ in 0..<30 { try world.step() }
            try forget()
        }
    }

    private static func clients(_ kind: RightsClient.Kind) -> [RightsClient] {
        RightsWorld.users.prefix(3).flatMap { user in
            ["note", "entry"].map { RightsClient(kind, user, $0, most: nil) }
        }
    }

    /// Lets starts with rules fail at one question after the other, until there is no other; returns how many there are.
    mutating func fail(_ new: RightsWorld.Rules, _ kind: QuestionFault.Kind) throws -> Int {
        let old = new.other
        for place in 1... {
            if world.rules != old { try serve(old) }
            let fault = QuestionFault(kind, at: place)
            try start(new, fault)
            let inForce = fault.commits == 0 ? old : new
            if inForce == old { try compareNew() } else { try checkRefused() }
            let (number, order) = (try begun(), place % 3 == 0 ? [old, new] : [new, old])
            try serve(order[0])
            #expect(try order[0] != inForce || begun() == number, "at \(place)")
            try world.step()
            try serve(order[1])
            if place % 9 == 0 { try forget() }
            if !fault.isMet { return place }
        }
        return 0
    }

    /// Changes the rules and the rows, while clients come at any time.
    mutating func alternate() throws {
        for round in 1...24 {
            try serve(world.rules.other)
            for _ in 0..<3 {
                try world.step()
                if world.chance.once(in: 3) { try compare(world.chance.below(clients.count)) }
            }
            if round % 12 == 0 { try forget() }
        }
    }

    /// A start that fails if it meets the fault.
    private func start(_ rules: RightsWorld.Rules, _ fault: QuestionFault) throws {
        // What a process of its own holds open ends with it.
        let own = fault.kind == .killed && database.dialect == .sqlite ? try TestBackend.open(store) : nil
        defer { own?.close() }
        let faulty = CountingDatabase(inner: own ?? database, fault: fault)
        let desk = try? ServiceDesk(faulty, world.desk.environment, keeper, tables: rules.tables, pageSize: 7)
        #expect((desk == nil) == fault.isMet && fault.commits <= 1)
    }

    /// A server whose rules are no longer in force serves nothing.
    private func checkRefused() throws {
        for client in clients {
            let path = "/tables/\(client.table)/changes?since="
            let answer = try world.desk.ask("GET", path, nil, world.headers(client.user))
            #expect(answer.code == "table-changed", "\(answer.text)")
        }
    }

    /// The number of rules that were ever put into force.
    private func begun() throws -> Int64? {
        let statement: SQLStatement = #"SELECT count(*) FROM "syncline_rules""#
        return try world.desk.store.database.read { connection throws(StoreFailure) in
            try connection.first(statement, count: 1)?[0].integer
        }
    }

    /// Starts a server; then clients that continue, and others that begin, must have exactly what the model says.
    private mutating func serve(_ rules: RightsWorld.Rules) throws {
        let desk = try ServiceDesk(
            database, world.desk.environment, keeper, tables: rules.tables, pageSize: 7)
        world.serve(desk, rules)
        for place in clients.indices where world.chance.once(in: 3) { try compare(place) }
        try compareNew()
        if world.chance.once(in: 4) { try world.compareReads(world.chance.pick(RightsWorld.users)) }
    }

    private mutating func compare(_ place: Int) throws {
        try clients[place].finish(&world)
        clients[place].compare(world, seed)
    }

    /// A client that begins.
    private mutating func compareNew() throws {
        var client = world.chance.pick(RuleTakeover.clients(world.chance.pick(RightsClient.Kind.allCases)))
        try client.finish(&world)
        client.compare(world, seed)
    }

    /// Lets the server forget what ended; otherwise all reads go through every change of the rules.
    private mutating func forget() throws {
        for place in clients.indices { try compare(place) }
        try world.desk.store.purge(tombstonesBefore: world.desk.environment.now() + 10_000)
        world.forgetDeleted()
    }
}
