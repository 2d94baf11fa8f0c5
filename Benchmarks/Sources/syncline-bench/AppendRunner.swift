// Runs the append cases: variants in turn, round after round, each with a fresh store in a fresh process.

extension Runner {
    func run(_ appendCase: AppendCase) throws -> Table {
        let variants = appendCase.variants.filter { options.engines.contains($0.engine) }
        var table = Table(appendCase.name, appendCase.title, .records, variants)
        for round in 1...options.rounds {
            progress("\(appendCase.name), round \(round)")
            if let slice = appendCase.slice {
                try runInSlices(of: slice, appendCase, round, &table)
            } else {
                try runInPairs(appendCase, round, &table)
            }
        }
        let stopped = table.rows.compactMap { row -> String? in
            guard let least = row.measurements.map(\.records).min(), least < appendCase.records else { return nil }
            return "\(row.variant.label) (\(formatted(least)))"
        }
        if !stopped.isEmpty {
            table.notes.append(
                "Stopped by the time limit before all \(formatted(appendCase.records)) records: "
                    + stopped.joined(separator: ", ") + ".")
        }
        return table
    }

    /// The log runs again before each of the others, so that what is compared was measured seconds apart at most. One
    /// store is open at a time: what an engine leaves to its background threads is paid for by itself.
    private func runInPairs(_ appendCase: AppendCase, _ round: Int, _ table: inout Table) throws {
        let log = table.rows.firstIndex { $0.variant == EngineVariant(.log) }
        for row in turns(of: table.rows.count, round) where row != log || table.rows.count == 1 {
            var rates: [(row: Int, rate: Double)] = []
            for index in row == log ? [row] : [log, row].compactMap(\.self) {
                let rate = try runAlone(appendCase, round, &table.rows[index])
                rates.append((index, rate))
            }
            table.pairWithLog(rates)
        }
    }

    private func runAlone(_ appendCase: AppendCase, _ round: Int, _ row: inout Row) throws -> Double {
        try inFreshDirectory { directory in
            let worker = try start(appendCase, row.variant, directory, appendCase.records)
            let job = AppendJob(first: 0, count: appendCase.records)
            var measurement = try measure(worker, appendCase, job, round, counted: true, &row)
            try finish(worker, directory, measurement.records, &measurement)
            row.measurements.append(measurement)
            return measurement.rate
        }
    }

    /// All stores are open at once and the variants take turns after every slice, so that a change of the disk's speed
    /// affects all of them. A first turn brings each store to its steady state (SQLite's log grows until its first
    /// checkpoint); a last, longer turn is counted on the device. Neither is timed.
    private func runInSlices(of slice: Int, _ appendCase: AppendCase, _ round: Int, _ table: inout Table) throws {
        let warming = appendCase.records / 4
        let counted = appendCase.records / 2
        try inFreshDirectory { directory in
            var workers: [WorkerProcess] = []
            for (index, row) in table.rows.enumerated() {
                let own = directory + "/\(index)"
                let worker = try start(appendCase, row.variant, own, warming + appendCase.records + counted)
                var unused = row
                let job = AppendJob(first: 0, count: warming)
                _ = try measure(worker, appendCase, job, round, counted: false, &unused)
                workers.append(worker)
            }
            var totals = [Measurement?](repeating: nil, count: workers.count)
            let deadline = monotonicNanoseconds() + UInt64(appendCase.secondsAtMost * 1e9) * UInt64(workers.count)
            for done in stride(from: 0, to: appendCase.records, by: slice) where monotonicNanoseconds() < deadline {
                var rates: [(row: Int, rate: Double)] = []
                for row in workers.indices {
                    let job = AppendJob(first: warming + done, count: min(slice, appendCase.records - done))
                    let measurement = try measure(
                        workers[row], appendCase, job, round, counted: false, &table.rows[row])
                    rates.append((row, measurement.rate))
                    totals[row] = totals[row]?.adding(measurement) ?? measurement
                }
                table.pairWithLog(rates)
            }
            for row in workers.indices {
                guard var measurement = totals[row] else { continue }
                let job = AppendJob(first: warming + appendCase.records, count: counted)
                var unused = Row(table.rows[row].variant)
                let counts = try measure(workers[row], appendCase, job, round, counted: true, &unused)
                measurement.takeDeviceCounts(from: counts)
                measurement.peakMemory = counts.peakMemory
                let records = warming + measurement.records + counts.records
                try finish(workers[row], directory + "/\(row)", records, &measurement)
                table.rows[row].measurements.append(measurement)
            }
        }
    }

    private func start(_ appendCase: AppendCase, _ variant: EngineVariant, _ directory: String, _ records: Int) throws
        -> WorkerProcess
    {
        let worker = try WorkerProcess(variant.engine, in: directory)
        try worker.ask(.generate(count: records))
        try worker.ask(.open(appendCase.durability))
        return worker
    }

    private func measure(
        _ worker: WorkerProcess, _ appendCase: AppendCase, _ job: AppendJob, _ round: Int, counted: Bool,
        _ row: inout Row
    ) throws -> Measurement {
        var job = job
        job.batch = appendCase.batch
        job.writers = appendCase.writers
        job.style = row.variant.style
        job.secondsAtMost = appendCase.secondsAtMost
        if counted { syncFileSystem(of: directory) }
        let before = counted ? device?.read() : nil
        let reply = try worker.ask(.append(job))
        if counted { syncFileSystem(of: directory) }
        let after = counted ? device?.read() : nil
        guard let outcome = reply.outcome, outcome.seconds > 0 else { throw BenchError("no outcome") }
        row.latency.add(outcome.latency)
        var measurement = Measurement(workload: appendCase.name, engine: row.variant.label, round: round)
        measurement.take(outcome)
        measurement.rate = Double(outcome.records) / outcome.seconds
        measurement.syncCalls = reply.syncCalls
        measurement.ownDataSyncs = reply.own.dataSyncs
        measurement.ownBytesWritten = reply.own.bytesWritten
        if row.variant.engine != .floor { measurement.peakMemory = reply.peakMemory }
        measurement.takeDeviceCounts(from: before, to: after)
        return measurement
    }

    private func finish(
        _ worker: WorkerProcess, _ directory: String, _ records: Int, _ measurement: inout Measurement
    ) throws {
        try worker.ask(.close)
        worker.kill()
        guard measurement.engine != EngineVariant(.floor).label else { return }  // its file says nothing
        measurement.diskBytes = diskUse(of: directory)
        measurement.diskRecords = records
    }
}

extension Measurement {
    mutating func take(_ outcome: AppendOutcome) {
        records = outcome.records
        commits = outcome.commits
        seconds = outcome.seconds
        microseconds50 = outcome.latency.microseconds(atQuantile: 0.5)
        microseconds95 = outcome.latency.microseconds(atQuantile: 0.95)
        microseconds99 = outcome.latency.microseconds(atQuantile: 0.99)
    }

    fileprivate mutating func takeDeviceCounts(from before: DeviceCounts?, to after: DeviceCounts?) {
        guard let before, let after else { return }
        countedCommits = commits
        countedRecords = records
        deviceBytes = after.bytes - before.bytes
        deviceFlushes = after.flushes.flatMap { now in before.flushes.map { now - $0 } }
    }

    fileprivate mutating func takeDeviceCounts(from other: Measurement) {
        countedCommits = other.countedCommits
        countedRecords = other.countedRecords
        deviceBytes = other.deviceBytes
        deviceFlushes = other.deviceFlushes
    }

    /// Two slices of one round as one. Latencies of slices are not kept apart.
    fileprivate func adding(_ other: Measurement) -> Measurement {
        var sum = self
        sum.records += other.records
        sum.commits += other.commits
        sum.seconds += other.seconds
        sum.rate = Double(sum.records) / sum.seconds
        sum.syncCalls = syncCalls.flatMap { left in other.syncCalls.map { left + $0 } }
        sum.ownDataSyncs = ownDataSyncs.flatMap { left in other.ownDataSyncs.map { left + $0 } }
        sum.ownBytesWritten = ownBytesWritten.flatMap { left in other.ownBytesWritten.map { left + $0 } }
        (sum.microseconds50, sum.microseconds95, sum.microseconds99) = (nil, nil, nil)
        return sum
    }
}
