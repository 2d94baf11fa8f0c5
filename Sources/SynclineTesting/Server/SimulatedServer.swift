// An in-memory table server for tests: the service of a server over tables in memory, which responds like the servers of
// either protocol, in the order of the requests, with times and versions that depend only on the requests. It uses no
// network and no clock.

public import SynclineCore
import SynclineGround
import SynclineTables
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

    /// The protocol for requests that name none.
    public let serverProtocol: ServerProtocol
    private let options: Options
    private let store: MemoryTableStore<SimulatedTables>
    private let service: TableService
    /// Requests are answered one after another.
    private let turn = Mutex(())

    /// Creates a server without tables.
    public init(_ serverProtocol: ServerProtocol = .zumo2, options: Options = Options()) {
        self.serverProtocol = serverProtocol
        self.options = options
        var definition = TableDefinition("")
        (definition.holdsDocuments, definition.softDelete) = (true, !options.deletesForGood)
        if !options.undeletes { definition.permissions[.undelete] = .disabled }
        let ids = SimulatedIDs()
        store = MemoryTableStore(SimulatedTables(serverProtocol, options, definition), ids)
        var settings = TableSettings()
        (settings.defaultProtocol, settings.others) = (serverProtocol, definition)
        service = TableService(settings, store, ids)
    }

    /// Sets up a table, replacing its content. Rows without `updatedAt` or `version` get the server's next ones.
    /// Request counts start again at zero.
    public func setTable(
        _ name: String, rows: [Value], pageLimit: Int? = nil, precision: Precision = .milliseconds,
        mutations: [Mutation] = []
    ) {
        store.change { state in
            state.set(name, SimulatedTable(pageLimit: pageLimit, precision: precision, mutations: mutations))
            for row in rows { state.put(row, in: name) }
            state.tables[name]?.forgetHistory()
        }
    }

    /// Inserts or replaces rows as another client would, each complete.
    public func upsert(_ rows: [Value], in table: String) {
        store.change { state in
            for row in rows { state.put(row, in: table) }
        }
    }

    /// Hard-deletes rows, as an operator would.
    public func remove(_ ids: [String], from table: String) {
        store.change { state in
            for id in ids { state.remove(id, from: table) }
        }
    }

    /// Makes lists show everything: lagging and late writes become visible.
    public func catchUp() {
        store.change { state in
            for name in state.tables.keys { state.tables[name]?.forgetHistory() }
        }
    }

    /// Forgets all hard deletes so far: a client with an older cursor has to read everything again.
    public func forgetDeletions() {
        store.change { $0.memory.purge() }
    }

    /// Returns all rows of a table by id, including deleted ones, as on the wire.
    public func rows(of table: String) -> [Value] {
        let rows = store.change { $0.memory.rows(of: table) }
        return rows.sorted { $0.id < $1.id }.map { .object($0.members(serverProtocol)) }
    }

    /// Returns the number of reads of a table, lists and single rows, since it was set up.
    public func requestCount(of table: String) -> Int {
        store.change { $0.tables[table]?.reads ?? 0 }
    }

    /// Handles a request.
    package func handle(_ request: HTTPRequest) -> HTTPResponse {
        turn.withLock { _ in
            var response = answer(request).asPeersGive(it: request, serverProtocol)
            if !capabilities.isEmpty {
                response.headers.append(HTTPHeader(WireHeader.capabilities, capabilities))
                response.headers.append(HTTPHeader(WireHeader.epoch, store.epoch))
            }
            if options.tellsTime {
                // A time after the latest write.
                let latest = store.change { $0.clock.latest }
                let seconds = latest.seconds + (latest.nanoseconds > 0 ? 1 : 0)
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

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        let route = service.route(of: request)
        switch route {
        case .access,
            .batch where !options.takesBatches, .changes where !options.tellsChanges:
            return Refusal(404, "not-found", "There is no table at \(request.path)").response
        default: break
        }
        var context = RequestContext()
        let response = service.answer(request, &context)
        if request.method == "GET", let table = route.table, response.status != 400 {
            store.change { $0.finishRead(of: table) }
        }
        return response
    }
}

extension Route {
    fileprivate var table: String? {
        switch self {
        case .table(let name), .row(let name, _), .changes(let name): name
        default: nil
        }
    }
}

extension HTTPResponse {
    /// The answer to a request as the servers of its protocol give it, which have no codes for errors.
    fileprivate func asPeersGive(it request: HTTPRequest, _ usual: ServerProtocol) -> HTTPResponse {
        let serverProtocol = (try? TableRequest.version(of: request, usual)) ?? usual
        var response = self
        if code != nil {
            let message = (try? Value(json: body))?[member: "error"]?.text ?? ""
            response = TableAnswer(serverProtocol).error(status, message)
        } else if status == 409, serverProtocol == .zumo2, let id = (try? Value(json: body))?[member: "id"],
            case .insert(let item)? = (try? TableRequest(request, .zumo2, table: "", id: "", rules: .peers))?.action
        {
            // The older servers return the item they received.
            let own = [Value.Member("id", id)] + item.columns.members
            response = TableAnswer(serverProtocol).echo(own, status: 409)
        }
        if serverProtocol == .zumo2, !response.headers.contains("ETag"), !response.body.isEmpty {
            // The older servers' framework adds a weak tag to every response without a strong one.
            let tag = "W/\"\(String(response.body.count, radix: 16))-simulated\""
            response.headers.append(HTTPHeader("ETag", tag))
        }
        return response
    }
}
