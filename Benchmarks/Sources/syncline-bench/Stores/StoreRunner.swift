// Runs the workloads over whole stores. Writing workloads make fresh stores; the stores that the last round of `batch`
// filled are what the reading workloads read, each time in a new process.

import Foundation

struct StoreRunner {
    let options: StoreOptions
    let runner: Runner

    private var all: [StoreName] { StoreName.allCases.filter { options.stores.contains($0) && $0.isInstalled } }
    private var stores: [StoreName] { all.filter { !$0.isAnalytic } }

    func run(_ show: (StoreTable) -> Void) throws {
        for store in options.stores where !store.isInstalled { runner.progress("\(store.rawValue) is not installed") }
        if wants(.single) { show(try singles(.durable)) }
        if wants(.buffered) { show(try singles(.buffered)) }
        if wants(.ordered) { show(try batches(isOrdered: true)) }
        let reading: [StoreWorkload] = [.batch, .get, .filter, .open, .replay, .plan, .index, .lists, .live]
        guard reading.contains(where: wants) else { return }
        show(try batches(isOrdered: false))
        if wants(.get) { show(try gets()) }
        if wants(.open) { show(try opens()) }
        if wants(.replay) { show(try replays()) }
        if wants(.plan) { show(try plans()) }
        if wants(.filter) { show(try filters()) }
        if wants(.index) { show(try indexes()) }
        if wants(.lists) { try lists(show) }
        if wants(.live) { try live(show) }
    }

    private func wants(_ workload: StoreWorkload) -> Bool { options.workloads.contains(workload) }

    private func directory(_ store: StoreName) -> String { runner.directory + "/" + store.rawValue }

    /// Calls `body` for each store in turn, round after round.
    private func forEachTurn(
        _ what: String, _ stores: [StoreName], _ body: (StoreName, Int) throws -> Void
    ) throws {
        for round in 1...options.rounds {
            runner.progress("\(what), round \(round)")
            for turn in runner.turns(of: stores.count, round) { try body(stores[turn], round) }
        }
    }

    // MARK: Writing

    /// One row a transaction.
    private func singles(_ durability: Durability) throws -> StoreTable {
        let isDurable = durability == .durable
        let count = min(options.rows, isDurable ? 5000 : 50_000)
        var table = StoreTable(
            isDurable ? "single" : "buffered",
            "one row and operation a transaction, \(isDurable ? "durable" : "not synced")", "rows/s")
        table.targets = [
            .init(of: "SQLite", isMet: \.isSQLite, multiple: isDurable ? 1.1 : 10)
        ]
        try forEachTurn(table.name, stores) { store, round in
            try runner.inFreshDirectory { directory in
                let worker = try start(store, directory, count, isOrdered: false, durability)
                let command = StoreCommand.insert(first: 0, count: count, batch: 1, secondsAtMost: 10)
                let reply = try worker.ask(command)
                table.add(measurement(of: reply, table, store, round, per: reply.rows))
                worker.kill()
            }
        }
        return table
    }

    /// A thousand rows a transaction.
    private func batches(isOrdered: Bool) throws -> StoreTable {
        var table = StoreTable(
            isOrdered ? "ordered" : "batch",
            "\(formatted(options.rows)) rows, 1,000 a durable transaction, ids \(isOrdered ? "in order" : "random")",
            "rows/s")
        table.targets = [.init(of: "SQLite", isMet: \.isSQLite, multiple: isOrdered ? 1.5 : 6)]
        if !isOrdered { table.targets.append(.init(of: "RocksDB", isMet: { $0 == .rocksdb }, multiple: 2.5)) }
        try forEachTurn(table.name, isOrdered ? stores : all) { store, round in
            removeTree(directory(store))
            let worker = try start(store, directory(store), options.rows, isOrdered: isOrdered, .durable)
            let command = StoreCommand.insert(first: 0, count: options.rows, batch: 1000, secondsAtMost: 600)
            let reply = try worker.ask(command)
            try worker.ask(StoreCommand.close)
            worker.kill()
            var measurement = measurement(of: reply, table, store, round, per: reply.rows)
            measurement.diskBytesPerRow = Double(diskUse(of: directory(store))) / Double(reply.rows)
            table.add(measurement)
            if isOrdered { removeTree(directory(store)) }
        }
        return table
    }

    // MARK: Reading

    private func gets() throws -> StoreTable {
        var table = StoreTable("get", "whole rows by random ids", "rows/s")
        table.targets = [.init(of: "SQLite", isMet: \.isSQLite, multiple: 1)]
        try forEachTurn("get", stores) { store, round in
            let worker = try start(store, directory(store), options.rows, isOrdered: false, .durable)
            let reply = try worker.ask(StoreCommand.get(count: min(options.rows, 200_000)))
            guard reply.rows == reply.steps else { throw BenchError("\(store.rawValue) lacks rows") }
            table.add(measurement(of: reply, table, store, round, per: reply.rows))
            worker.kill()
        }
        return table
    }

    private func filters() throws -> StoreTable {
        var table = StoreTable("filter", "all rows that match a filter of three columns, no index", "rows looked at/s")
        table.targets = [.init(of: "SQLite", isMet: \.isSQLite, multiple: 1)]
        try forEachTurn("filter", stores.filter(\.hasQueries)) { store, round in
            let worker = try start(store, directory(store), 1, isOrdered: false, .durable)
            try worker.ask(StoreCommand.filter(times: 1))
            let reply = try worker.ask(StoreCommand.filter(times: 3))
            table.add(measurement(of: reply, table, store, round, per: options.rows * reply.steps))
            worker.kill()
        }
        return table
    }

    private func indexes() throws -> StoreTable {
        var table = StoreTable("index", "all rows with a tag, by an index; \(rowsPerTag) rows each", "queries/s")
        table.targets = [.init(of: "SQLite", isMet: \.isSQLite, multiple: 1)]
        let stores = stores.filter(\.hasQueries)
        for store in stores {
            runner.progress("index: made by \(store.rawValue)")
            let worker = try start(store, directory(store), 1, isOrdered: false, .durable)
            try worker.ask(StoreCommand.index)
            try worker.ask(StoreCommand.close)
            worker.kill()
        }
        try forEachTurn("index", stores) { store, round in
            let worker = try start(store, directory(store), options.rows, isOrdered: false, .durable)
            let reply = try worker.ask(StoreCommand.find(count: 10_000))
            guard reply.rows >= reply.steps else { throw BenchError("\(store.rawValue) lacks rows") }
            table.add(measurement(of: reply, table, store, round, per: reply.steps))
            worker.kill()
        }
        return table
    }

    /// The questions of lists: first those without an index, then the others.
    private func lists(_ show: (StoreTable) -> Void) throws {
        let stores = stores.filter(\.hasQueries)
        let questions = ListQuestion.allCases.filter(options.questions.contains)
        for question in questions where !question.isIndexed {
            show(try list(question, stores + all.filter(\.isAnalytic)))
        }
        for store in stores {
            runner.progress("lists: indexes made by \(store.rawValue)")
            let worker = try start(store, directory(store), 1, isOrdered: false, .durable)
            try worker.ask(StoreCommand.indexLists)
            try worker.ask(StoreCommand.close)
            worker.kill()
        }
        for question in questions where question.isIndexed { show(try list(question, stores)) }
    }

    private func list(_ question: ListQuestion, _ stores: [StoreName]) throws -> StoreTable {
        var table = StoreTable(question.rawValue, question.title, "questions/s")
        table.targets = [.init(of: "SQLite", isMet: \.isSQLite, multiple: question.target)]
        var answers: Set<Int> = []
        try forEachTurn(question.rawValue, stores) { store, round in
            let worker = try start(store, directory(store), options.rows, isOrdered: false, .durable)
            try worker.ask(StoreCommand.ask(question, times: max(1, question.times / 10)))
            let reply = try worker.ask(StoreCommand.ask(question, times: question.times))
            answers.insert(reply.rows)
            table.add(measurement(of: reply, table, store, round, per: reply.steps))
            worker.kill()
        }
        guard answers.count == 1 else {
            throw BenchError("the stores answer \(question.rawValue) differently: \(answers)")
        }
        return table
    }

    /// Single commits, alone and while a hundred lists are observed.
    private func live(_ show: (StoreTable) -> Void) throws {
        let count = 20_000
        for lists in [0, 100] {
            var table = StoreTable(
                "live\(lists)", "one row a transaction, not synced, under \(lists) live lists", "rows/s")
            try forEachTurn(table.name, stores.filter { $0 == .syncline }) { store, round in
                let copy = directory(store) + "-copy"
                defer { removeTree(copy) }
                try copyTree(directory(store), to: copy)
                let worker = try start(store, copy, options.rows + count, isOrdered: false, .buffered)
                try worker.ask(StoreCommand.observe(lists: lists))
                let reply = try worker.ask(
                    StoreCommand.insert(first: options.rows, count: count, batch: 1, secondsAtMost: 60))
                table.add(measurement(of: reply, table, store, round, per: reply.rows))
                worker.kill()
            }
            show(table)
        }
    }

    private var rowsPerTag: String { formatted(max(1, Double(options.rows) / Double(TodoRows.distinct))) }

    private func opens() throws -> StoreTable {
        var table = StoreTable("open", "\(formatted(options.rows)) rows, closed; opened by a new process", "openings/s")
        table.showsTime = true
        try forEachTurn("open", stores) { store, round in
            let worker = try StoreWorkerProcess(store, in: directory(store))
            let reply = try worker.ask(StoreCommand.open(.durable))
            table.add(measurement(of: reply, table, store, round, per: 1))
            worker.kill()
        }
        return table
    }

    /// Without checkpoints everything is made of the log.
    private func replays() throws -> StoreTable {
        var table = StoreTable("replay", "the state made of the log alone, in memory", "rows/s")
        try forEachTurn("replay", stores.filter { $0 == .syncline }) { store, round in
            let copy = directory(store) + "-copy"
            defer { removeTree(copy) }
            try copyTree(directory(store), to: copy)
            for name in names(in: copy) where name.hasSuffix(".checkpoint") { removeTree(copy + "/" + name) }
            let worker = try StoreWorkerProcess(store, in: copy)
            let reply = try worker.ask(StoreCommand.open(.durable))
            table.add(measurement(of: reply, table, store, round, per: options.rows))
            worker.kill()
        }
        return table
    }

    private func plans() throws -> StoreTable {
        var table = StoreTable("plan", "what would be pushed: \(formatted(options.rows)) operations", "operations/s")
        table.showsTime = true
        try forEachTurn("plan", stores.filter(\.hasQueries)) { store, round in
            let worker = try start(store, directory(store), 1, isOrdered: false, .durable)
            let reply = try worker.ask(StoreCommand.plan(times: 1))
            guard reply.rows == options.rows else { throw BenchError("\(store.rawValue) planned \(reply.rows)") }
            table.add(measurement(of: reply, table, store, round, per: reply.rows))
            worker.kill()
        }
        return table
    }

    private func start(
        _ store: StoreName, _ directory: String, _ rows: Int, isOrdered: Bool, _ durability: Durability
    ) throws -> StoreWorkerProcess {
        let worker = try StoreWorkerProcess(store, in: directory)
        try worker.ask(StoreCommand.generate(count: rows, isOrdered: isOrdered))
        try worker.ask(StoreCommand.open(durability))
        return worker
    }

    private func measurement(
        of reply: StoreReply, _ table: StoreTable, _ store: StoreName, _ round: Int, per units: Int
    ) -> StoreMeasurement {
        var measurement = StoreMeasurement(
            workload: table.name, store: store.rawValue, round: round, rate: Double(units) / reply.seconds,
            seconds: reply.seconds)
        if reply.steps > 3 {
            measurement.microseconds50 = reply.latency.microseconds(atQuantile: 0.5)
            measurement.microseconds99 = reply.latency.microseconds(atQuantile: 0.99)
            measurement.syncsPerStep = reply.syncCalls > 0 ? Double(reply.syncCalls) / Double(reply.steps) : nil
        }
        measurement.peakMemory = reply.peakMemory
        return measurement
    }
}

/// A worker process with a store.
struct StoreWorkerProcess {
    private let process: WorkerProcess

    init(_ store: StoreName, in directory: String) throws {
        process = try WorkerProcess("store-worker", store.rawValue, in: directory)
    }

    @discardableResult
    func ask(_ command: StoreCommand) throws -> StoreReply {
        let reply: StoreReply = try process.ask(command)
        if let failure = reply.failure { throw BenchError(failure) }
        return reply
    }

    func kill() { process.kill() }
}
