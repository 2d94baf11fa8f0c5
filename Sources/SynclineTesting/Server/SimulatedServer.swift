// A table server in memory, for tests: it answers as the servers of either protocol do, in the order in which it is asked,
// with times and versions that depend on nothing but what it was asked. No network and no clock is involved.

import Synchronization
public import SynclineCore
package import SynclineWire

/// A faithful table endpoint without a network.
///
/// Give it rows with ``setTable(_:rows:pageLimit:precision:mutations:)``, connect a store to it through a
/// ``SimulatedNetwork``, and look at what it holds with ``rows(of:)``. A table that nobody set up is there and empty.
public final class SimulatedServer: Sendable {
    /// How exactly a table stores times. What goes over the wire has milliseconds in any case.
    public enum Precision: Hashable, Sendable {
        /// Times have three decimals.
        case milliseconds
        /// Times have six decimals.
        case microseconds
    }

    /// Something another client does while a test goes on.
    public struct Mutation: Hashable, Sendable {
        /// It happens when so many reads of the table have been answered since the table was set up.
        public var afterRequest: Int
        /// Rows to put in place, each whole.
        public var upsert: [Value]
        /// The ids of rows to remove for good.
        public var remove: [String]

        /// Something other clients do.
        public init(afterRequest: Int, upsert: [Value] = [], remove: [String] = []) {
            self.afterRequest = afterRequest
            self.upsert = upsert
            self.remove = remove
        }
    }

    /// In what a server differs from others.
    public struct Options: Hashable, Sendable {
        /// Whether a deleted row is gone for good; else it stays with a mark.
        public var deletesForGood = false
        /// Whether a deleted row can be brought back.
        public var undeletes = true
        /// Whether a write with the operation id of an earlier one gets that one's answer and changes nothing.
        public var recognizesOperations = false
        /// Lists show the state before so many of the latest writes, as a replica that lags does.
        public var lag = 0
        /// Writes that commit late, if there are any.
        public var lateCommits: LateCommits?
        /// Whether ids that differ in the case of ASCII letters only are one; the first spelling stays.
        public var ignoresCase = false
        /// Whether answers tell the server's time.
        public var tellsTime = true
        /// Whether it numbers its changes and tells those behind a cursor, as `syncline-server` does. They are told of what
        /// is there: neither lag nor late commits touch them.
        public var tellsChanges = false
        /// Whether it takes many writes in one request, as `syncline-server` does.
        public var takesBatches = false

        /// A server without quirks.
        public init() {}
    }

    /// Writes that get their time at once, and that lists show later.
    public struct LateCommits: Hashable, Sendable {
        /// One write in so many.
        public var every: Int
        /// How many reads of the table are answered before the write shows.
        public var reads: Int

        /// A copy that lags.
        public init(every: Int, reads: Int) {
            self.every = every
            self.reads = reads
        }
    }

    struct State: Sendable {
        let serverProtocol: ServerProtocol
        let options: Options
        var tables: [String: SimulatedTable] = [:]
        /// The latest time that was given or set.
        var latest = Timestamp.Instant(seconds: 1_767_225_600)
        var writes = 0
        /// What became of operations that had an id.
        var answers: [String: SimulatedExchange.Done] = [:]
        /// The number of the latest change of any table, and up to which one what was deleted for good is forgotten.
        var change: Int64 = 0
        var purged: Int64 = 0
        /// How often a table was set up: rows went that no change tells of.
        var setups = 0

        var mark: ChangeMark { ChangeMark(epoch: "simulated\(setups)", change: change, purged: purged) }
    }

    /// The protocol it speaks to a request that names none.
    public let serverProtocol: ServerProtocol
    let options: Options
    let state: Mutex<State>

    /// A server without tables.
    public init(_ serverProtocol: ServerProtocol = .zumo2, options: Options = Options()) {
        self.serverProtocol = serverProtocol
        self.options = options
        state = Mutex(State(serverProtocol: serverProtocol, options: options))
    }

    /// Sets up a table anew. Rows given without `updatedAt` or `version` get the server's next ones; requests are counted
    /// from here.
    public func setTable(
        _ name: String, rows: [Value], pageLimit: Int? = nil, precision: Precision = .milliseconds,
        mutations: [Mutation] = []
    ) {
        state.withLock { state in
            state.setups += 1
            state.tables[name] = SimulatedTable(pageLimit: pageLimit, precision: precision, mutations: mutations)
            for row in rows { state.put(row, in: name) }
            state.tables[name]?.forgetHistory()
        }
    }

    /// Puts rows in place as another client would, each whole.
    public func upsert(_ rows: [Value], in table: String) {
        state.withLock { state in
            for row in rows { state.put(row, in: table) }
        }
    }

    /// Removes rows for good, as an operator would.
    public func remove(_ ids: [String], from table: String) {
        state.withLock { state in
            for id in ids { state.set(nil, state.spelling(of: id, in: table), in: table) }
        }
    }

    /// Lists show everything from now on: what lagged behind has caught up, and what was to commit late is there.
    public func catchUp() {
        state.withLock { state in
            for name in state.tables.keys { state.tables[name]?.forgetHistory() }
        }
    }

    /// What was deleted for good up to now is forgotten: a client with an older cursor has to read anew.
    public func forgetDeletions() {
        state.withLock { state in
            state.purged = state.change
            for name in state.tables.keys { state.tables[name]?.forgetDeletions() }
        }
    }

    /// All rows of a table by id, deleted ones too, as the wire shows them.
    public func rows(of table: String) -> [Value] {
        state.withLock { state in
            let rows = state.tables[table]?.rows.values.sorted { $0.id < $1.id } ?? []
            return rows.map { .object($0.members(serverProtocol)) }
        }
    }

    /// How many reads of a table, lists and single rows, were answered since it was set up.
    public func requestCount(of table: String) -> Int {
        state.withLock { $0.tables[table]?.reads ?? 0 }
    }

    /// Answers a request.
    package func handle(_ request: HTTPRequest) -> HTTPResponse {
        state.withLock { state in
            var response = answer(request, &state)
            if !capabilities.isEmpty {
                response.headers.append(HTTPHeader(WireHeader.capabilities, capabilities))
                response.headers.append(HTTPHeader(WireHeader.epoch, state.mark.epoch))
            }
            if options.tellsTime {
                // A moment behind the latest write, as time has gone on since.
                let seconds = state.latest.seconds + (state.latest.nanoseconds > 0 ? 1 : 0)
                response.headers.append(HTTPHeader("Date", HTTPDate.text(of: .init(seconds: seconds))))
            }
            return response
        }
    }

    /// What it can do beyond the protocols.
    private var capabilities: String {
        var words = options.takesBatches ? ["batch"] : []
        if options.tellsChanges { words.append("changes") }
        if options.recognizesOperations { words.append("operation-ids") }
        return words.joined(separator: ", ")
    }

    private func answer(_ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
        do throws(TableRequestError) {
            if let response = try extended(request, &state) { return response }
            var parsed = try TableRequest(request, usual: serverProtocol)
            parsed.id = state.spelling(of: parsed.id, in: parsed.table)
            let exchange = SimulatedExchange(request: request, parsed: parsed)
            guard request.method == "GET" else { return exchange.done(&state).response }
            defer { state.finishRead(of: parsed.table) }
            return exchange.read(&state)
        } catch {
            return TableAnswer(error.serverProtocol).error(error).withWeakTag(error.serverProtocol)
        }
    }

    /// What only some servers answer; nil for all else.
    private func extended(_ request: HTTPRequest, _ state: inout State) throws(TableRequestError) -> HTTPResponse? {
        let path = request.pathSegments
        guard !capabilities.isEmpty, path.first == "tables" else { return nil }
        let spoken = try TableRequest.version(of: request, serverProtocol)
        if options.takesBatches, request.method == "POST", path.count == 2, path[1] == "$batch" {
            return try SimulatedBatch(request: request, spoken: spoken).answer(&state)
        }
        guard options.tellsChanges, request.method == "GET", path.count == 3, path[2] == "changes",
            let asked = try ChangeRequest(request, spoken, .peers)
        else { return nil }
        defer { state.finishRead(of: path[1]) }
        let limit = min(asked.top ?? .max, state.tables[path[1]]?.pageLimit ?? 1000)
        var found = state.tables[path[1]]?.changes(asked) ?? []
        let count = found.count
        found = Array(found.prefix(limit))
        return try TableAnswer(spoken).changes(
            asked, found, hasMore: found.count < count, count: asked.counts ? count : nil, state.mark)
    }
}

extension HTTPResponse {
    /// The older servers' framework puts a weak tag on every answer that has no strong one.
    func withWeakTag(_ serverProtocol: ServerProtocol) -> HTTPResponse {
        guard serverProtocol == .zumo2, !headers.contains("ETag"), !body.isEmpty else { return self }
        var response = self
        response.headers.append(HTTPHeader("ETag", "W/\"\(String(body.count, radix: 16))-simulated\""))
        return response
    }
}
