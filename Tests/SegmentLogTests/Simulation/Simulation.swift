// Runs a history on a simulated disk, one operation after another, and compares the log with the model: what each
// call promised, and what is there after each reopening. The checks of a whole log are in Simulation+Checks.swift.

import LogTesting
import SegmentLog
import SynclineGround

final class Simulation {
    let plan: SimulationPlan
    var model = SimulationModel()
    var disk = MemoryStorage(granularity: .sector)
    var writer: LogWriter?
    var followers: [SimulatedFollower] = []
    /// The highest epoch that HEAD ever had.
    var epoch: UInt32 = 0
    private var storage: InterleavingStorage
    private var leases: [(lease: LogLease, first: UInt64)] = []
    private let clock = SimulationClock()
    private var wasOpened = false
    /// Whether the writer said that it accepts nothing more.
    private var mustRefuse = false
    /// Whether something failed since the log was opened, so that later calls may fail because of it.
    private var mayRefuse = false

    init(_ plan: SimulationPlan) {
        self.plan = plan
        storage = InterleavingStorage(disk)
    }

    func run() throws(SimulationFailure) {
        for (index, operation) in plan.operations.enumerated() {
            try located(index) { try perform(operation) }
        }
        try located(plan.operations.count) { try finish() }
    }

    private func located(_ step: Int, _ body: () throws -> Void) throws(SimulationFailure) {
        do {
            try body()
        } catch {
            var failure = error as? SimulationFailure ?? SimulationFailure("\(error)")
            failure.step = step
            throw failure
        }
    }

    // MARK: Operations

    private func perform(_ operation: SimulationOperation) throws {
        clock.advance(by: 7)
        if operation.action.needsWriter, writer == nil { try open(nil) }
        switch operation.action {
        case .append(let batch, let durability): try append(batch, durability, operation)
        case .flush: try call(operation) { writer throws(LogError) in try writer.flush() }
        case .roll: try call(operation) { writer throws(LogError) in try writer.roll() }
        case .attest: try attest(operation)
        case .open: try open(operation)
        case .close:
            try call(operation) { writer throws(LogError) in try writer.close() }
            writer = nil
        case .drop: writer = nil
        case .checkpoint(let back): try checkpoint(back, operation)
        case .collect(let count): try collect(keeping: count, operation)
        case .follow(let visibility, let start): followers.append(SimulatedFollower(visibility, place(start)))
        case .readers: try letReadersFollow()
        case .lease(let back): try takeLease(back)
        case .release: leases.popLast()?.lease.release()
        case .clock(let jump): clock.advance(by: jump)
        case .fill(let free): disk.capacity = usedBytes + free
        case .free: disk.capacity = nil
        }
        try checkFloor()
        if let ending = operation.ending { end(ending) }
    }

    private func append(_ batch: SimulatedBatch, _ durability: Durability, _ operation: SimulationOperation) throws {
        let records = batch.records
        guard !records.isEmpty else {
            return try call(operation) { writer throws(LogError) in
                _ = try writer.append(RecordBatch(), durability: durability)
            }
        }
        let transaction = model.begin(records, clock: clock.now().rawValue)
        var request = RecordBatch()
        for record in records { request.append(record) }
        switch try trouble(operation, { writer throws(LogError) in try writer.append(request, durability: durability) })
        {
        case .success(let range):
            if mustRefuse { throw SimulationFailure("a writer that had stopped took @\(transaction.first)") }
            guard range.first.rawValue == transaction.first, range.last.rawValue == transaction.last else {
                throw SimulationFailure("\(range) was given out for @\(transaction.first)..\(transaction.last)")
            }
            model.keep()
            if durability == .durable, let writer, writer.durableThrough < range.last {
                throw SimulationFailure("\(range) was to be durable, and it is through \(writer.durableThrough)")
            }
        case .failure(let error):
            let wasRefused = mustRefuse || !stops(error)
            if wasRefused { try model.refuse() }
            try note(error)
            if wasRefused {
                for follower in followers where follower.visibility == .written {
                    follower.restart(fromBeginning: true)
                }
            }
        }
        try settle()
    }

    private func attest(_ operation: SimulationOperation) throws {
        let before = disk.counts.faults
        try call(operation) { writer throws(LogError) in try writer.attest() }
        if operation.aside == nil, disk.counts.faults == before, !mayRefuse, !mustRefuse { try checkFollowers() }
    }

    private func checkpoint(_ back: UInt64, _ operation: SimulationOperation) throws {
        guard model.next > 1 else { return }
        let through = SequenceNumber(rawValue: model.next - 1 - min(back, model.next - 2))
        try call(operation) { [clock] writer throws(LogError) in
            var checkpoint = try CheckpointWriter.begin(for: writer, through: through, clock: clock)
            for block in 0..<through.rawValue % 4 {
                try withBytes(block) { bytes throws(LogError) in _ = try checkpoint.append(bytes) }
            }
            try checkpoint.finish(note: [1, 2, 3])
        }
    }

    private func withBytes(_ number: UInt64, _ body: (UnsafeRawBufferPointer) throws(LogError) -> Void) throws(LogError)
    {
        var result: Result<Void, LogError> = .success(())
        [UInt64](repeating: number, count: 300).withUnsafeBytes { bytes in
            do throws(LogError) { try body(bytes) } catch { result = .failure(error) }
        }
        try result.get()
    }

    private func collect(keeping count: UInt64, _ operation: SimulationOperation) throws {
        let needed = max(1, model.next - min(count, model.next - 1))
        let allowed = min(needed, try newestCheckpoint() + 1, leases.map(\.first).min() ?? .max)
        let announced = try LogCatalog.readHead(disk).head?.checkpoint.rawValue ?? 0
        model.floor = max(model.floor, allowed)
        let result = try trouble(operation) { writer throws(LogError) in
            try writer.collect(keepingFrom: SequenceNumber(rawValue: needed))
        }
        switch result {
        case .failure(let error): try note(error)
        case .success(let collection):
            let names = try segmentNames()
            guard collection.floor == names.first?.first else {
                throw SimulationFailure("the log was said to begin with \(collection.floor): \(names)")
            }
            if operation.aside == nil, !mayRefuse, names.count > 1,
                names[1].first.rawValue <= min(allowed, announced + 1)
            {
                throw SimulationFailure("a segment wholly below @\(allowed) was kept: \(names)")
            }
        }
    }

    // MARK: Readers

    private func place(_ start: SimulationOperation.FollowerStart) -> SimulatedFollower.Start {
        switch start {
        case .beginning: .beginning
        case .record(let back): .record(max(1, model.next - min(back, model.next)))
        case .time(let back): .time(clock.now().rawValue - back)
        }
    }

    func letReadersFollow(ofDurableOnly: Bool = false) throws {
        for follower in followers where !ofDurableOnly || follower.visibility == .durable {
            let faults = disk.counts.faults
            do {
                guard let last = try follower.follow(disk, model), follower.visibility == .durable else { continue }
                try model.settle(through: last)
            } catch let error as LogError {
                guard disk.counts.faults > faults || !wasOpened else { throw error }
                follower.restart(fromBeginning: false)
            }
        }
    }

    private func takeLease(_ back: UInt64) throws {
        let first = max(1, model.next - min(back, model.next))
        do throws(LogError) {
            let reader = try LogReader.open(disk)
            leases.append((try reader.lease(from: SequenceNumber(rawValue: first), clock: clock), first))
        } catch {
            switch error.code {
            case .collected where first < model.floor: break
            case .diskFull where disk.capacity != nil: break
            case .noStore where !wasOpened: break
            default: throw error
            }
        }
    }

    /// What a live reader leased must be there, and nothing may be missing that was never allowed to be collected.
    private func checkFloor() throws {
        guard let first = try segmentNames().first?.first.rawValue else { return }
        for lease in leases where lease.first < first {
            throw SimulationFailure("the log begins with @\(first), and a reader holds it from @\(lease.first)")
        }
        if first > model.floor {
            throw SimulationFailure("the log begins with @\(first), and only what is before @\(model.floor) may go")
        }
    }

    // MARK: Faults

    /// Calls the writer while the operation's faults and interruptions are armed.
    private func trouble<Value>(
        _ operation: SimulationOperation?, _ body: (LogWriter) throws(LogError) -> Value
    ) throws -> Result<Value, LogError> {
        guard let writer else { throw SimulationFailure("there is no writer") }
        return try trouble(operation) { () throws(LogError) in try body(writer) }
    }

    private func trouble<Value>(
        _ operation: SimulationOperation?, _ body: () throws(LogError) -> Value
    ) throws -> Result<Value, LogError> {
        var wrong: (any Error)?
        if let (calls, aside) = operation?.aside {
            storage.interrupt(after: calls) {
                do {
                    switch aside {
                    case .readers: try self.letReadersFollow()
                    case .lease(let back): try self.takeLease(back)
                    }
                } catch { wrong = error }
            }
        }
        let faults = disk.counts.faults
        if let fault = operation?.fault { disk.arm(fault) }
        let trims = storage.trims
        storage.trim = operation?.trim
        let result: Result<Value, LogError>
        do throws(LogError) { result = .success(try body()) } catch { result = .failure(error) }
        disk.disarm()
        storage.letBe()
        storage.trim = nil
        if let wrong { throw wrong }
        if disk.counts.faults > faults || storage.trims > trims { mayRefuse = true }
        if case .failure(let error) = result {
            let isExpected = mayRefuse || mustRefuse || (error.code == .diskFull && disk.capacity != nil)
            if !isExpected || error.code == .storeCorrupt || error.code == .storeNewer { throw error }
        }
        return result
    }

    private func call(_ operation: SimulationOperation, _ body: (LogWriter) throws(LogError) -> Void) throws {
        if case .failure(let error) = try trouble(operation, body) { try note(error) }
        try settle()
    }

    /// Returns whether the writer accepts nothing more after this error. A failure of HEAD stops only what needs
    /// HEAD.
    private func stops(_ error: LogError) -> Bool {
        error.code == .storageFailed && error.file != "HEAD"
    }

    private func note(_ error: LogError) throws {
        guard stops(error) else { return }
        mustRefuse = true
        model.doubt()
    }

    private func settle() throws {
        if let writer { try model.settle(through: writer.durableThrough.rawValue) }
    }

    private var usedBytes: UInt64 {
        let tree = disk.copy()
        return tree.allNames().files.reduce(0) { $0 + UInt64(tree.contents(of: $1)?.count ?? 0) }
    }

    private func end(_ ending: SimulationOperation.Ending) {
        switch ending {
        case .powerLoss(let seed):
            var generator = Chance(seed: seed)
            disk = disk.crash(using: &generator)
            model.doubt()
        case .powerLossKeepingNothing:
            disk = disk.crash { _ in false }
            model.doubt()
        case .kill: disk = disk.processKill()
        }
        writer = nil
        leases = []
        storage = InterleavingStorage(disk)
        for follower in followers { follower.restart(fromBeginning: follower.visibility == .written) }
    }

    // MARK: Opening

    /// Opens the log unless it is open. A failure that was not injected is an error.
    private func open(_ operation: SimulationOperation?) throws {
        guard writer == nil else { return }
        try checkBeforeOpening(wasOpened: wasOpened)
        (mayRefuse, mustRefuse) = (false, false)
        let storage = storage
        let opened = try trouble(operation) { [plan, clock] () throws(LogError) in
            try LogWriter.open(storage, configuration: plan.configuration, clock: clock)
        }
        guard case .success(let writer) = opened else {
            // A failed sync may have undone what only the system's memory had.
            if let fault = operation?.fault, fault.syncFailure != .pagesStayDirty { model.doubt() }
            // A full disk fails the opening, too.
            if operation == nil { disk.capacity = nil }
            return operation == nil ? try open(nil) : ()
        }
        self.writer = writer
        wasOpened = true
        try checkAfterOpening(writer)
    }

    private func finish() throws {
        disk.capacity = nil
        try open(nil)
        if mayRefuse || mustRefuse {
            writer = nil
            try open(nil)
        }
        try call(SimulationOperation(action: .attest)) { writer throws(LogError) in try writer.attest() }
        try checkFollowers()
        try checkWhole()
        try call(SimulationOperation(action: .close)) { writer throws(LogError) in try writer.close() }
        writer = nil
        try checkIsClean()
        try open(nil)
    }
}

extension SimulationOperation.Action {
    var needsWriter: Bool {
        switch self {
        case .append, .flush, .roll, .attest, .close, .checkpoint, .collect: true
        default: false
        }
    }
}

/// A clock that is set by hand, also backwards.
final class SimulationClock: LogClock {
    private let state = Mutex((time: Int64(1_700_000_000_000), identities: UInt64(0)))

    func advance(by milliseconds: Int64) {
        state.withLock { $0.time += milliseconds }
    }

    func now() -> WallTime {
        WallTime(rawValue: state.withLock { $0.time })
    }

    func newIdentity() -> LogIdentity {
        state.withLock { state in
            state.identities += 1
            return LogIdentity(high: 0x5eed, low: state.identities)
        }
    }
}
