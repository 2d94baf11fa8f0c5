// An in-memory table server for tests. It responds like the servers of either protocol, in the order of the
// requests, with times and versions that depend only on the requests. It uses no network and no clock.

public import SynclineCore
import SynclineGround
package import SynclineWire

/// A faithful table server without a network.
///
/// Give it rows with ``setTable(_:rows:pageLimit:precision:mutations:)``, connect a store to it through a
/// ``SimulatedNetwork``, and check its content with ``rows(of:)``. A table that was not set up exists and is empty.
public final class SimulatedServer: Sendable {
    /// The precision with which a table stores times. On the wire they always have milliseconds.
    public enum Precision: Hashable, Sendable {
        /// Times have three decimals.
        case milliseconds
        /// Times have six decimals.
        case microseconds
    }

    /// A change by another client during a test.
    public struct Mutation: Hashable, Sendable {
        /// The number of reads of the table after which the change happens, counted since the table was set up.
        public var afterRequest: Int
        /// Rows to insert or replace, each complete.
        public var upsert: [Value]
        /// The ids of rows to hard-delete.
        public var remove: [String]

        /// Creates a change by another client.
        public init(afterRequest: Int, upsert: [Value] = [], remove: [String] = []) {
            self.afterRequest = afterRequest
            self.upsert = upsert
            self.remove = remove
        }
    }

    /// The options in which servers differ.
    public struct Options: Hashable, Sendable {
        /// Whether deletes are hard deletes; otherwise a deleted row stays, marked as deleted.
        public var deletesForGood = false
        /// Whether a deleted row can be restored.
        public var undeletes = true
        /// Whether a write with the operation id of an earlier one gets the same response and changes nothing.
        public var recognizesOperations = false
        /// The number of latest writes that lists do not show yet, like a lagging replica.
        public var lag = 0
        /// Writes that commit late, if there are any.
        public var lateCommits: LateCommits?
        /// Whether ids that differ only in the case of ASCII letters are equal; the first spelling is kept.
        public var ignoresCase = false
        /// Whether responses have the server's time.
        public var tellsTime = true
        /// Whether it has a changes feed, like `syncline-server`. The feed is always up to date: neither lag nor
        /// late commits affect it.
        public var tellsChanges = false
        /// Whether it accepts batch requests, like `syncline-server`.
        public var takesBatches = false

        /// Creates default options.
        public init() {}
    }

    /// Writes that get their time at once, but that lists show later.
    public struct LateCommits: Hashable, Sendable {
        /// One write in this many commits late.
        public var every: Int
        /// The number of reads of the table before the write is shown.
        public var reads: Int

        /// Creates settings for late commits.
        public init(every: Int, reads: Int) {
            self.every = every
            self.reads = reads
        }
    }

    struct State: Sendable {
        let serverProtocol: ServerProtocol
        let options: Options
        var tables: [String: SimulatedTable] = [:]
        /// The latest time that was assigned or set.
        var latest = Timestamp.Instant(seconds: 1_767_225_600)
        var writes = 0
        /// The results of operations that had an id.
        var answers: [String: SimulatedExchange.Done] = [:]
        /// The number of the latest change of any table, and the number through which hard deletes are forgotten.
        var change: Int64 = 0
        var purged: Int64 = 0
        /// How often a table was set up, which removes rows without recording a change.
        var setups = 0

        var mark: ChangeMark { ChangeMark(epoch: "simulated\(setups)", change: change, purged: purged) }
    }

    /// The protocol for requests that name none.
    public let serverProtocol: ServerProtocol
    let options: Options
    let state: Mutex<State>

    /// Creates a server without tables.
    public init(_ serverProtocol: ServerProtocol = .zumo2, options: Options = Options()) {
        self.serverProtocol = serverProtocol
        self.options = options
        state = Mutex(State(serverProtocol: serverProtocol, options: options))
    }

    /// Sets up a table, replacing its content. Rows without `updatedAt` or `version` get the server's next ones.
    /// Request counts start again at zero.
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

    /// Inserts or replaces rows as another client would, each complete.
    public func upsert(_ rows: [Value], in table: String) {
        state.withLock { state in
            for row in rows { state.put(row, in: table) }
        }
    }

    /// Hard-deletes rows, as an operator would.
    public func remove(_ ids: [String], from table: String) {
        state.withLock { state in
            for id in ids { state.set(nil, state.spelling(of: id, in: table), in: table) }
        }
    }

    /// Makes lists show everything: lagging and late writes become visible.
    public func catchUp() {
        state.withLock { state in
            for name in state.tables.keys { state.tables[name]?.forgetHistory() }
        }
    }

    /// Forgets all hard deletes so far: a client with an older cursor has to read everything again.
    public func forgetDeletions() {
        state.withLock { state in
            state.purged = state.change
            for name in state.tables.keys { state.tables[name]?.forgetDeletions() }
        }
    }

    /// Returns all rows of a table by id, including deleted ones, as on the wire.
    public func rows(of table: String) -> [Value] {
        state.withLock { state in
            let rows = state.tables[table]?.rows.values.sorted { $0.id < $1.id } ?? []
            return rows.map { .object($0.members(serverProtocol)) }
        }
    }

    /// Returns the number of reads of a table, lists and single rows, since it was set up.
    public func requestCount(of table: String) -> Int {
        state.withLock { $0.tables[table]?.reads ?? 0 }
    }

    /// Handles a request.
    package func handle(_ request: HTTPRequest) -> HTTPResponse {
        state.withLock { state in
            var response = answer(request, &state)
            if !capabilities.isEmpty {
                response.headers.append(HTTPHeader(WireHeader.capabilities, capabilities))
                response.headers.append(HTTPHeader(WireHeader.epoch, state.mark.epoch))
            }
            if options.tellsTime {
                // A time after the latest write.
                let seconds = state.latest.seconds + (state.latest.nanoseconds > 0 ? 1 : 0)
                response.headers.append(HTTPHeader("Date", HTTPDate.text(of: .init(seconds: seconds))))
            }
            return response
        }
    }

    /// Its capabilities beyond the protocols.
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
            guard request.method == "GET" else { return exchange.applyOnce(&state).response }
            defer { state.finishRead(of: parsed.table) }
            return exchange.read(&state)
        } catch {
            return TableAnswer(error.serverProtocol).error(error.status, error.message)
                .withWeakTag(error.serverProtocol)
        }
    }

    /// Handles requests that only some servers support; returns nil for all others.
    private func extended(_ request: HTTPRequest, _ state: inout State) throws(TableRequestError) -> HTTPResponse? {
        let path = request.pathSegments
        guard !capabilities.isEmpty, path.first == "tables" else { return nil }
        let protocolVersion = try TableRequest.version(of: request, serverProtocol)
        if options.takesBatches, request.method == "POST", path.count == 2, path[1] == "$batch" {
            return try SimulatedBatch(request: request, protocolVersion: protocolVersion).answer(&state)
        }
        guard options.tellsChanges, request.method == "GET", path.count == 3, path[2] == "changes",
            let asked = try ChangeRequest(request, protocolVersion, .peers)
        else { return nil }
        defer { state.finishRead(of: path[1]) }
        let limit = min(asked.top ?? .max, state.tables[path[1]]?.pageLimit ?? 1000)
        var found = state.tables[path[1]]?.changes(asked) ?? []
        let count = found.count
        found = Array(found.prefix(limit))
        return try TableAnswer(protocolVersion).changes(
            asked, found, hasMore: found.count < count, count: asked.counts ? count : nil, state.mark)
    }
}

extension HTTPResponse {
    /// The older servers' framework adds a weak tag to every response without a strong one.
    func withWeakTag(_ serverProtocol: ServerProtocol) -> HTTPResponse {
        guard serverProtocol == .zumo2, !headers.contains("ETag"), !body.isEmpty else { return self }
        var response = self
        response.headers.append(HTTPHeader("ETag", "W/\"\(String(body.count, radix: 16))-simulated\""))
        return response
    }
}
