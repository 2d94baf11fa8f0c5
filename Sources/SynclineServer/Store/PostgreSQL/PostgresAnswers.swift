// The answers of PostgreSQL: results arrive for one statement after the other, and a wait that ends too early leaves none
// on the connection.

import CLibrary
import CPostgres
import Dispatch
import SynclineGround
import SynclineTables

extension PostgresConnection {
    /// The last result of what was sent, which the caller must clear.
    func finished(_ isSent: Int32) throws(StoreFailure) -> OpaquePointer? {
        try last { take throws(StoreFailure) in try results(isSent) { take($1) } }
    }

    /// The last of some results, which the caller must clear, unless one of them is a failure.
    func last(
        of all: (_ take: (OpaquePointer) -> Void) throws(StoreFailure) -> Void
    ) throws(StoreFailure) -> OpaquePointer? {
        var last: OpaquePointer?
        var failed: StoreFailure?
        do throws(StoreFailure) {
            try all { result in
                PQclear(last)
                last = result
                if failed == nil, !PostgresConnection.isFine(result) { failed = failure(result) }
            }
        } catch {
            failed = failed ?? error
        }
        guard let failed else { return last }
        PQclear(last)
        throw failed
    }

    /// Reads the results of what was sent, with the place of the statement among those sent; the body must clear each.
    /// - Parameters:
    ///   - streamed: The places of statements whose rows arrive one by one.
    ///   - start: The place of the first of them that is not read yet.
    ///   - end: The place of the first that is not to be read yet.
    func results(
        _ isSent: Int32, streamed: [Int] = [], from start: Int = 0, until end: Int? = nil,
        _ body: (Int, OpaquePointer) -> Void
    ) throws(StoreFailure) {
        guard isSent == 1 else { throw failure(nil) }
        // The database itself gives up a little earlier, and then the connection is still usable.
        let wait = waits.wait(waits.limits.statement * 1.1)
        while PQflush(handle) == 1 {
            // Data from the database must be read meanwhile, or neither side continues.
            try pause(wait, POLLIN | POLLOUT)
            guard PQconsumeInput(handle) == 1 else { throw failure(nil) }
        }
        var place = start
        while true {
            while PQisBusy(handle) == 1 {
                try pause(wait, POLLIN)
                // The next result contains the error of the connection.
                if PQconsumeInput(handle) == 0 { break }
            }
            switch next() {
            case .result(let result): body(place, result)
            case .end: return
            case .skipped: break
            case .endOfOne:
                place += 1
                if streamed.contains(place) { PQsetSingleRowMode(handle) }
                if place == end { return }
            }
        }
    }

    private enum Next {
        case result(OpaquePointer)
        /// A statement was not run, because one before it failed.
        case skipped
        case endOfOne, end
    }

    /// What comes next, if it has arrived.
    private func next() -> Next {
        guard let result = PQgetResult(handle) else {
            let isOne = PQpipelineStatus(handle) != PQ_PIPELINE_OFF && PQstatus(handle) == CONNECTION_OK
            return isOne ? .endOfOne : .end
        }
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            PQexitPipelineMode(handle)
            return .end
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            return .skipped
        default: return .result(result)
        }
    }

    /// An unfinished answer would be taken for the next one.
    private func pause(_ wait: SocketWait, _ events: Int32) throws(StoreFailure) {
        do throws(StoreFailure) {
            try wait.wait(PQsocket(handle), events)
        } catch {
            // A request whose time is over must not keep the database busy, nor cost a connection.
            if case .refused = error, cancelAndDrain() { throw error }
            isGivenUp = true
            throw error
        }
    }

    /// Cancels the statement and reads the rest of the answer; false if that takes too long.
    private func cancelAndDrain() -> Bool {
        cancel()
        let wait = waits.wait(.seconds(1), isForRequest: false)
        while !isGivenUp {
            while PQisBusy(handle) == 1 {
                do throws(StoreFailure) {
                    try wait.wait(PQsocket(handle), POLLIN)
                } catch {
                    return false
                }
                guard PQconsumeInput(handle) == 1 else { return false }
            }
            switch next() {
            case .result(let result): PQclear(result)
            case .end: return true
            case .skipped, .endOfOne: break
            }
        }
        return false
    }

    static func isFine(_ result: OpaquePointer?) -> Bool {
        [PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE].contains(PQresultStatus(result))
    }

    /// Asks the database to cancel the current statement. libpq blocks until the request is received; this function
    /// does not.
    func cancel() {
        guard let request = PQgetCancel(handle) else { return }
        let address = UInt(bitPattern: request)
        let isHeard = TimedSemaphore(value: 0)
        // A queue of its own has a thread at once; the global queue has one for each processor.
        DispatchQueue(label: "syncline.cancel").async {
            guard let request = OpaquePointer(bitPattern: address) else { return }
            var reason = [CChar](repeating: 0, count: 256)
            PQcancel(request, &reason, Int32(reason.count))
            PQfreeCancel(request)
            isHeard.signal()
        }
        // A request that arrives later would cancel the next statement.
        if !isHeard.wait(atMost: .seconds(1)) { isGivenUp = true }
    }
}
