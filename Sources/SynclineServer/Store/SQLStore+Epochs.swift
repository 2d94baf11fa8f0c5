// New epochs: if the database turns out to be an older copy, clients must read everything again, and the numbers
// continue far above those that may have been issued.

import SynclineGround
import SynclineTables

extension SQLStore {
    /// Reads; if the database turns out to be an older copy, begins a new epoch and reads again. The body gets what was
    /// known before it began.
    func continuing<Result>(
        _ read: (Continuity) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        do throws(StoreFailure) {
            return try read(continuity.withLock { $0 })
        } catch {
            guard case .replaced = error else { throw error }
            try beginEpoch()
            return try read(continuity.withLock { $0 })
        }
    }

    /// Begins a new epoch, unless another process has done so.
    func beginEpoch() throws(StoreFailure) {
        let epoch = environment.newEpoch()
        try database.write { connection throws(StoreFailure) in
            let reason = try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                try connection.execute(StateSQL.line)
                let state = try connection.state(numbers, dialect)
                guard case .older(let reason) = continuity.withLock({ $0.judge(state) }) else { return ("", false) }
                for statement in numbers.renew(epoch: epoch, dialect) { try connection.run(statement) }
                return (reason, true)
            }
            if !reason.isEmpty {
                counts.noteEpoch()
                note(Continuity.note(reason))
            }
            try refresh(connection)
        }
    }

    func noteCommitted(_ state: DatabaseState) { continuity.withLock { $0.note(state) } }
}

extension SQLConnection {
    /// The database's state now.
    func state(_ numbers: NumberSource, _ dialect: SQLDialect) throws(StoreFailure) -> DatabaseState {
        guard let values = try first(numbers.state(dialect), count: numbers == .line ? 6 : 8) else {
            throw .broken("the server's own table is missing")
        }
        var state = DatabaseState(
            epoch: values[0].text, change: values[1].integer, purged: values[2].integer,
            origin: DatabaseState.Origin(rawValue: values[3].integer) ?? .other)
        (state.issued, state.ticked) = (values[4].integer, values[5].integer)
        // The server's row keeps the number from before the first tick.
        if numbers == .ticks { state.closed = ClosedInstant(values[6].integer, firstChange: values[7].integer) }
        return state
    }
}
