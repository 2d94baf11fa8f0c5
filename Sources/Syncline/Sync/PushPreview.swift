// A preview of a push, made from a state alone: no lock is taken and nothing is sent.

public import SynclineCore
import SynclineWire

/// What a push would send.
public struct PushPreview: Hashable, Sendable {
    /// A request, without credentials and the app's own headers.
    public struct Request: Hashable, Sendable {
        /// `POST`, `PATCH`, `PUT` or `DELETE`.
        public var method: String
        /// What follows the backend's URL, as it is sent: `/tables/todoitem/a%20b`.
        public var path: String
        /// `If-Match` and similar headers. An operation that was never sent has no operation id yet.
        public var headers: [String: String]
        /// The JSON body; nil if there is none.
        public var body: [UInt8]?
    }

    /// Every operation in scope, in plan order.
    public var report: PushReport
    /// The request of each operation as if it were sent alone; nil if it, or one before it on the same row, awaits a
    /// decision. One that follows another on the same row has no version, which comes with the answer to that one.
    public var requests: [Request?]
    /// The conflict that each will meet as far as the store knows the server's rows; nil if it knows of none.
    public var foreseen: [ForeseenConflict?]
}

extension PushPreview {
    /// - Parameter tables: Only operations on these; nil for all.
    package init(
        _ reader: StateReader, tables: Set<String>? = nil, rowsOnTheirWay: Set<[UInt8]> = []
    ) throws(SyncError) {
        var plan = try PushPlan(reader).operations
        plan.mark(onTheirWay: rowsOnTheirWay)
        plan = plan.filter { tables?.contains($0.table) ?? true }
        let outlook = try RequestOutlook(reader)
        let items = PushMachine(plan, ids: .exact, PushSettings()).items
        report = PushReport(plan.isEmpty ? .complete : .incomplete, items.map(\.report))
        requests = try plan.map { operation throws(SyncError) in try outlook.request(operation) }
        foreseen = try plan.map { operation throws(SyncError) in try outlook.conflict(operation) }
    }
}

/// What each operation of a plan will send and meet, one at a time.
package struct RequestOutlook {
    private let reader: StateReader
    private let codec: WireCodec
    private let names: NameTranslation

    package init(_ reader: StateReader) throws(SyncError) {
        self.reader = reader
        (codec, names) = (WireCodec(try reader.serverProtocol), NameTranslation(try reader.declaration))
    }

    /// The request of an operation; nil if it, or one before it on the same row, awaits a decision.
    package func request(_ operation: PlannedOperation) throws(SyncError) -> PushPreview.Request? {
        let write = try reader.preview(operation, for: codec.serverProtocol)
        return write.flatMap { write in (try? codec.request(names.sent(.write(write)))).map { .init($0) } }
    }

    /// The conflict that it will meet as far as the store knows the server's row.
    package func conflict(_ operation: PlannedOperation) throws(SyncError) -> ForeseenConflict? {
        try reader.foreseenConflict(of: operation)
    }
}

extension PushPreview.Request {
    fileprivate init(_ request: HTTPRequest) {
        method = request.method
        path = request.target(below: "")
        headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { $1 }.filter { !$0.value.isEmpty }
        body = request.body
    }

    /// How many bytes the body has.
    package var size: Int { body?.count ?? 0 }
}

extension StateReader {
    /// What the server of the store speaks.
    package var serverProtocol: ServerProtocol {
        get throws(SyncError) {
            let name = try setting(SettingName.serverProtocol)
            return try ServerProtocol(setting: name)
        }
    }
}
