// Runs the workloads that read: opening after a kill, scanning a closed store, following a live one.

extension Runner {
    /// Durable batches of 1000, then the process is killed; each round opens a fresh copy in a fresh process until one
    /// record was read, and then checks that every record is there.
    func recover() throws -> Table {
        let count = options.quick ? 100_000 : 1_000_000
        let title = "\(formatted(count)) records, killed; time to open and read one"
        var table = Table("recover", title, .milliseconds, variants([.log, .sqliteRowid, .rocksdb, .leveldb, .lmdb]))
        try inFreshDirectory { directory in
            for row in table.rows {
                progress("recover: writing by \(row.variant.label)")
                let original = directory + "/" + row.variant.label
                try write(count, row.variant.engine, original).kill()
                syncFileSystem(of: original)
            }
            for round in 1...options.rounds {
                progress("recover, round \(round)")
                for row in turns(of: table.rows.count, round) {
                    let name = table.rows[row].variant.engine
                    let original = directory + "/" + table.rows[row].variant.label
                    let seconds = try onCopy(of: original) { copy in
                        let worker = try WorkerProcess(name, in: copy)
                        let seconds = try worker.ask(.openAndReadFirst).seconds
                        worker.kill()
                        return seconds
                    }
                    table.add(seconds: seconds, round, row, records: count, disk: diskUse(of: original))
                }
            }
            for row in table.rows { try checkComplete(row.variant.engine, directory + "/" + row.variant.label, count) }
        }
        table.pairRounds()
        return table
    }

    /// The log alone, with as full a last segment as there can be: the time until it can be written again.
    func recoverLastSegment() throws -> Table? {
        guard options.engines.contains(.log) else { return nil }
        var table = Table(
            "recover-last-segment", "a full last segment (8 MiB), killed; time to open for writing", .milliseconds,
            [EngineVariant(.log)])
        try inFreshDirectory { directory in
            progress("recover: a full last segment")
            let step = 1000
            let steps = try stepsUntilSecondSegment(step, directory + "/probe")
            let original = directory + "/log"
            try write(step * (steps - 1), .log, original, batch: 100).kill()
            let largest = names(in: original).filter { $0.hasSuffix(".seg") }.map { diskUse(of: original + "/" + $0) }
                .max()
            table.notes.append("The last segment takes \(formatted(bytes: Double(largest ?? 0))) of disk.")
            syncFileSystem(of: original)
            for round in 1...(3 * options.rounds) {
                let seconds = try onCopy(of: original) { copy in
                    let worker = try WorkerProcess(.log, in: copy)
                    let seconds = try worker.ask(.recover).seconds
                    worker.kill()
                    return seconds
                }
                table.add(seconds: seconds, round, 0, records: step * (steps - 1), disk: largest ?? 0)
            }
        }
        return table
    }

    /// Durable batches of 1000 and an orderly close; each round reads every record in a fresh process, on one thread.
    func scan() throws -> Table {
        let count = options.quick ? 100_000 : 500_000
        let engines: [EngineName] = [.floor, .log, .sqliteRowid, .rocksdb, .leveldb, .lmdb]
        let title = "\(formatted(count)) records, closed; all read by one thread"
        var table = Table("scan", title, .megabytes, variants(engines))
        try inFreshDirectory { directory in
            for row in table.rows where row.variant.engine != .floor {
                progress("scan: writing by \(row.variant.label)")
                let worker = try write(count, row.variant.engine, directory + "/" + row.variant.label)
                try worker.ask(.close)
                worker.kill()
            }
            syncFileSystem(of: directory)
            for round in 1...options.rounds {
                progress("scan, round \(round)")
                for row in turns(of: table.rows.count, round) {
                    let variant = table.rows[row].variant
                    let store = directory + "/" + variant.label
                    let worker = try WorkerProcess(variant.engine, in: store)
                    if variant.engine == .floor { try worker.ask(.generate(count: count)) }
                    let reply = try worker.ask(.scan)
                    worker.kill()
                    guard let totals = reply.totals, totals.records == count else {
                        throw BenchError("\(variant.label) read \(reply.totals?.records ?? 0) of \(count) records")
                    }
                    var measurement = Measurement(workload: table.name, engine: variant.label, round: round)
                    measurement.records = count
                    measurement.seconds = reply.seconds
                    measurement.rate = Double(totals.bytes) / reply.seconds / 1e6
                    if variant.engine != .floor {
                        measurement.diskBytes = diskUse(of: store)
                        measurement.diskRecords = count
                        measurement.peakMemory = reply.peakMemory
                    }
                    table.rows[row].measurements.append(measurement)
                }
            }
        }
        table.pairRounds()
        return table
    }

    /// One process writes durable batches of 10 as fast as it can; another reads what appears. The latency is the time
    /// from just before a record's commit to its arrival in the other process.
    func follow() throws -> Table {
        let count = options.quick ? 20_000 : 200_000
        var table = Table(
            "follow", "a second process follows durable commits of 10", .records, variants([.log, .sqliteRowid]))
        for round in 1...options.rounds {
            progress("follow, round \(round)")
            for row in turns(of: table.rows.count, round) {
                let variant = table.rows[row].variant
                try inFreshDirectory { directory in
                    let store = directory + "/store"
                    let countFile = directory + "/written"
                    let writer = try WorkerProcess(variant.engine, in: store)
                    try writer.ask(.generate(count: count))
                    try writer.ask(.open(.durable))
                    let reader = try WorkerProcess(variant.engine, in: store)
                    try reader.ask(.openToFollow)
                    try reader.send(Command.follow(countFile: countFile, seconds: 60))
                    var job = AppendJob(first: 0, count: count, batch: 10)
                    job.secondsAtMost = options.quick ? 2 : 15
                    job.stamped = true
                    let written = try writer.ask(.append(job)).outcome?.records ?? 0
                    try writer.ask(.close)
                    try writeFile("\(written)", to: countFile)
                    guard let seen = try reader.receive().outcome else { throw BenchError("no outcome") }
                    if seen.records < written {
                        table.notes.append("\(variant.label): \(seen.records) of \(written) seen.")
                    }
                    var measurement = Measurement(workload: table.name, engine: variant.label, round: round)
                    measurement.take(seen)
                    measurement.rate = seen.seconds > 0 ? Double(seen.records) / seen.seconds : 0
                    table.rows[row].latency.add(seen.latency)
                    table.rows[row].measurements.append(measurement)
                    reader.kill()
                    writer.kill()
                }
            }
        }
        table.pairRounds()
        return table
    }

    private func variants(_ engines: [EngineName]) -> [EngineVariant] {
        engines.filter(options.engines.contains).map { EngineVariant($0) }
    }

    /// Writes records durably; the worker is still open.
    private func write(_ count: Int, _ engine: EngineName, _ directory: String, batch: Int = 1000) throws
        -> WorkerProcess
    {
        let worker = try WorkerProcess(engine, in: directory)
        try worker.ask(.generate(count: count))
        try worker.ask(.open(.durable))
        let job = AppendJob(first: 0, count: count, batch: batch, secondsAtMost: 600)
        let written = try worker.ask(.append(job)).outcome?.records
        guard written == count else { throw BenchError("\(engine.rawValue) wrote \(written ?? 0) of \(count)") }
        return worker
    }

    /// How many steps of records make the log begin its second segment.
    private func stepsUntilSecondSegment(_ step: Int, _ directory: String) throws -> Int {
        let worker = try WorkerProcess(.log, in: directory)
        let steps = 400
        try worker.ask(.generate(count: step * steps))
        try worker.ask(.open(.durable))
        for number in 0..<steps {
            try worker.ask(.append(AppendJob(first: number * step, count: step, batch: 100)))
            if names(in: directory).count(where: { $0.hasSuffix(".seg") }) > 1 { return number + 1 }
        }
        throw BenchError("the log began no second segment")
    }

    private func onCopy<Result>(of original: String, _ body: (String) throws -> Result) throws -> Result {
        let copy = original + "-copy"
        defer { removeTree(copy) }
        try copyTree(original, to: copy)
        syncFileSystem(of: copy)
        return try body(copy)
    }

    private func checkComplete(_ engine: EngineName, _ directory: String, _ count: Int) throws {
        let worker = try WorkerProcess(engine, in: directory)
        try worker.ask(.openAndReadFirst)
        try worker.ask(.close)
        let found = try worker.ask(.scan).totals?.records
        guard found == count else { throw BenchError("\(engine.rawValue) kept \(found ?? 0) of \(count) records") }
    }
}

extension Table {
    /// Compares what the rows measured in the same round.
    fileprivate mutating func pairRounds() {
        for round in 0..<(rows.map(\.measurements.count).max() ?? 0) {
            let measured = rows.indices.filter { round < rows[$0].measurements.count }
            pairWithLog(measured.map { ($0, rows[$0].measurements[round].rate) })
        }
    }

    fileprivate mutating func add(seconds: Double, _ round: Int, _ row: Int, records: Int, disk: Int) {
        var measurement = Measurement(workload: name, engine: rows[row].variant.label, round: round)
        measurement.records = records
        measurement.seconds = seconds
        measurement.rate = 1 / seconds
        measurement.diskBytes = disk
        measurement.diskRecords = records
        rows[row].measurements.append(measurement)
    }
}
