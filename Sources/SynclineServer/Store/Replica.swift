// A streaming replica of a store's database. It is connected in the background, so that one that can't be reached delays
// no request.

import SynclineGround
import SynclineTables

final class Replica: Sendable {
    private struct State: Sendable {
        var database: (any SQLDatabase)?
        var (isOpening, isOver) = (false, false)
        var told = ""
    }

    /// Its place in the configuration, from 1.
    let number: Int
    private let state = Mutex(State())
    private let open: @Sendable () throws(StoreFailure) -> any SQLDatabase
    private let note: @Sendable (String) -> Void

    init(
        _ number: Int, note: @escaping @Sendable (String) -> Void = { Diagnostics.note($0) },
        open: @escaping @Sendable () throws(StoreFailure) -> any SQLDatabase
    ) {
        (self.number, self.note, self.open) = (number, note, open)
    }

    /// Its connections. If there are none yet, it is connected.
    var database: (any SQLDatabase)? {
        let (database, opens) = state.withLock { state in
            let opens = state.database == nil && !state.isOpening && !state.isOver
            if opens { state.isOpening = true }
            return (state.database, opens)
        }
        if opens { OwnThread.run { self.connect() } }
        return database
    }

    private func connect() {
        let opened = Result { () throws(StoreFailure) in try open() }
        let isUnwanted = state.withLock { state in
            state.isOpening = false
            if !state.isOver { state.database = try? opened.get() }
            return state.isOver
        }
        switch opened {
        case .success(let database): if isUnwanted { database.close() } else { tell("") }
        case .failure(let failure): if !isUnwanted { tell("can't be used: \(StartFailure(failure).message)") }
        }
    }

    /// Tells an operator what is wrong, once.
    func tell(_ fault: String) {
        let isNew = state.withLock { state in
            defer { state.told = fault }
            return state.told != fault
        }
        if isNew { note("replica \(number) \(fault.isEmpty ? "answers" : fault)") }
    }

    private var opened: (any SQLDatabase)? { state.withLock { $0.database } }

    /// Throws the reason why it can't be read.
    func check() throws(StoreFailure) {
        guard let opened else { throw .busy(FailureReason(.unreachable, "replica \(number) is not connected")) }
        try opened.check()
    }

    /// For the end: what is being connected is not used.
    func interrupt() {
        let database = state.withLock { state in
            state.isOver = true
            return state.database
        }
        database?.interrupt()
    }

    func rest() { opened?.rest() }

    func close() {
        let database = state.withLock { state in
            state.isOver = true
            return state.database.take()
        }
        database?.close()
    }

    /// The use of its connections for reads.
    var pools: [PoolUse] {
        (opened?.pools ?? []).filter { $0.name == "readers" }.map { pool in
            var pool = pool
            pool.name = "replica \(number)"
            return pool
        }
    }
}
