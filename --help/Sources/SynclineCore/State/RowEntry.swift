// The state's entry of a row: the base (the server's latest row); while changes are pending, the columns that cover it,
// the operation that the changes collapse to, and the operation that was sent or awaits a decision; and the local
// columns. Its flags are `RowFlags`.

package import SynclineGround

package struct RowEntry: Hashable, Sendable {
    /// The spelling of the id, if the key does not have it.
    package var spelling: String?
    package var base: Row?
    package var pending: PendingRow?
    /// Columns that never leave the device. They are removed with the row.
    package var local: Row?
    /// States of the server's row that own writes have replaced, until the server shows another one.
    package fileprivate(set) var overtaken: [Overtaken] = []
    /// Whether the server's row was deleted by this store: an insert then restores it without a decision. Reset when
    /// the row is seen live.
    package var isOwnTombstone = false
    /// Whether the base came with the answer to an own write, not with a page.
    package var isAnswered = false

    /// Whether the entry holds nothing.
    package var isEmpty: Bool { base == nil && pending == nil && overtaken.isEmpty && !isOwnTombstone }

    /// Whether an encoded entry has pending changes.
    static func hasPending(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first.map { RowFlags(rawValue: $0).contains(.pending) } ?? false
    }

    /// Whether an app sees the row.
    package var isPresent: Bool { pending?.isPresent ?? (base != nil) }

    /// The server's row after the sent operation is done.
    package var expected: Row {
        let base = base ?? .empty
        guard let frozen = pending?.frozen else { return base }
        return frozen.kind == .delete ? .empty : base.merged(with: frozen.columns)
    }

    /// The row as an app sees it.
    package var visible: Row? {
        guard let local else { return shared }
        return shared?.merged(with: local)
    }

    /// The columns that the app sees and the server knows, too.
    var shared: Row? {
        guard isPresent else { return nil }
        guard let pending else { return base }
        guard let under = base ?? pending.lostBase, !pending.hidesBase else { return pending.overlay }
        return under.merged(with: pending.overlay)
    }
}

extension RowEntry {
    /// The server shows the row live, or has stored it.
    mutating func take(base row: Row, isAnswer: Bool) {
        base = row
        isAnswered = isAnswer
        isOwnTombstone = false
    }

    /// The row is gone from the server.
    mutating func loseBase(byOwnDelete: Bool = false) {
        base = nil
        isAnswered = false
        if byOwnDelete { isOwnTombstone = true }
    }

    /// Whether the base is newer than the server's answer to an operation: a server that knows operation ids repeats
    /// its first answer, and a pull may have fetched a newer row since.
    func outruns(_ answered: Row?, _ frozen: FrozenOperation) -> Bool {
        guard let base, !base.isSameState(as: frozen.ancestor ?? .empty) else { return false }
        // Only the version that was sent could be deleted, so that happened before this version existed.
        guard let answered else { return frozen.ancestor?.version != nil && base.version != nil }
        guard let now = base["updatedAt"]?.moment, let then = answered["updatedAt"]?.moment else { return false }
        return then < now
    }

    /// Whether an insert that meets a tombstone on the server restores the row without a decision.
    package var mayRevive: Bool { isOwnTombstone || pending?.frozen?.isDecided ?? false }

    /// Whether a tombstone is news to a row without a base: its pending update or delete does not know it yet.
    var meetsTombstone: Bool {
        guard base == nil, let pending, pending.frozen == nil, let operation = pending.operation else { return false }
        return operation.kind != .insert
    }
}

/// A state of the server's row that an own write has replaced. A lagging copy of the server still shows it for a while;
/// that does not undo the write.
package struct Overtaken: Hashable, Sendable {
    var version: Value?
    var moment: Int64?
}

extension Overtaken {
    /// Nil for a row that does not identify its state.
    init?(_ row: Row) {
        if let version = row.versionValue, !version.isNull { self.version = version }
        moment = row["updatedAt"]?.moment
        if version == nil && moment == nil { return nil }
    }
}

extension RowEntry {
    /// A copy that lags by more than this number of own writes to one row shows an older state for a moment.
    private static let overtakenLimit = 4

    /// The server has carried out an own write that was made on a state; the base is the result.
    mutating func overtake(_ ancestor: Row?) {
        if let mark = ancestor.flatMap(Overtaken.init) {
            overtaken = overtaken.filter { $0 != mark }.suffix(RowEntry.overtakenLimit - 1) + [mark]
        }
        let now = base.flatMap(Overtaken.init)
        overtaken.removeAll { $0 == now }
    }

    /// The server shows another state, so whatever comes next is news.
    mutating func forgetOvertaken() { overtaken = [] }

    func hasOvertaken(_ row: Row) -> Bool {
        if overtaken.isEmpty { return false }
        return Overtaken(row).map { overtaken.contains($0) } ?? false
    }
}

/// The pending changes of a row.
package struct PendingRow: Hashable, Sendable {
    /// The first and the last change of the row in the journal, and their number.
    package var first: Position
    package var last: Position
    package var count: Int
    /// Whether an app sees the row.
    package var isPresent: Bool
    /// Whether the base is hidden: the row was deleted and inserted again.
    package var hidesBase = false
    /// The columns that the changes set; later changes win.
    package var overlay: Row = .empty
    /// The operation that the unsent changes collapse to; nil if they cancel each other out.
    package var operation: Operation?
    /// The operation that was sent, is in conflict, or parked. Few rows have one, and it is large, so it is stored
    /// separately.
    package var frozen: FrozenOperation? {
        get { frozenBox?.content }
        set { frozenBox = newValue.map(Box.init) }
    }
    private var frozenBox: Box<FrozenOperation>?

    /// The base of a row that is gone from the server while the app has changes to it: the app still sees it.
    var lostBase: Row? {
        guard let frozen, frozen.status == .conflict, frozen.server == nil, frozen.kind == .update else { return nil }
        return frozen.ancestor
    }

    package struct Operation: Hashable, Sendable {
        package var kind: OperationKind
        /// Its first change.
        package var first: Position
    }

    package init(first: Position, last: Position, count: Int, isPresent: Bool) {
        self.first = first
        self.last = last
        self.count = count
        self.isPresent = isPresent
    }
}

/// A value stored by reference.
private final class Box<Content: Hashable & Sendable>: Hashable, Sendable {
    let content: Content

    init(_ content: Content) {
        self.content = content
    }

    static func == (left: Box, right: Box) -> Bool { left.content == right.content }

    func hash(into hasher: inout Hasher) { hasher.combine(content) }
}

/// An operation as it was sent, and as it is sent again.
package struct FrozenOperation: Hashable, Sendable {
    package enum Status: UInt8, Hashable, Sendable {
        case inFlight, conflict, parked
    }

    package var kind: OperationKind
    package var status: Status
    /// Whether the server may have seen it.
    package var maybeSent: Bool
    /// Its place in the outbox.
    package var position: Position
    /// The last change that it contains; later ones are follow-ups.
    package var through: Position
    package var operationID: String
    /// The columns that are sent.
    package var columns: Row
    /// The base that it was made on.
    package var ancestor: Row?
    /// The progress of an insert that met a tombstone on the server; nil if it is sent as an insert.
    package var revival: Revival?
    /// Whether it was decided to restore the row if the server has deleted it.
    package var isDecided = false
    /// For a conflict: whether an earlier attempt with a lost answer may have been applied before the server's row
    /// changed.
    package var mayHaveBeenDone = false
    /// How many pushes in a row it stopped because the server answered 500 to every attempt.
    package var failures = 0
    /// Whether the server has answered otherwise since it began to fail: then the server works, and this operation is
    /// the cause.
    package var serverWorks = false
    /// The server's answer: its row (nil if it is gone), status, code and message.
    package var server: Row?
    /// For a conflict with a change of another process on this device: what the app had pending.
    package var rival: Rival?
    package var httpStatus: Int?
    package var code: String?
    package var message: String?

    package init(
        kind: OperationKind, status: Status, maybeSent: Bool, position: Position, through: Position,
        operationID: String, columns: Row, ancestor: Row?
    ) {
        self.kind = kind
        self.status = status
        self.maybeSent = maybeSent
        self.position = position
        self.through = through
        self.operationID = operationID
        self.columns = columns
        self.ancestor = ancestor
    }

    /// The row after the operation; nil for a delete without an ancestor.
    package var row: Row? {
        kind == .delete ? ancestor : (ancestor ?? .empty).merged(with: columns)
    }
}

/// An insert that continues as an undelete, because the server has a tombstone of the row.
package struct Revival: Hashable, Sendable {
    /// The tombstone, if the server showed it.
    package var tombstone: Row?
}

// MARK: Encoding

/// Writes rows with their shapes as numbers.
package protocol ShapeNumbering {
    func number(of shape: RowShape) -> Int
}

extension ByteWriter {
    package mutating func append(row: Row, _ shapes: some ShapeNumbering) {
        append(varint: shapes.number(of: row.shape))
        append(counted: row.bytes)
    }

    private mutating func append(optional row: Row?, _ shapes: some ShapeNumbering) {
        append(row == nil ? 0 : 1)
        if let row { append(row: row, shapes) }
    }

    private mutating func append(optional text: String?) {
        append(text == nil ? 0 : 1)
        if let text { append(text: text) }
    }

    package mutating func append(entry: RowEntry, _ shapes: some ShapeNumbering) {
        var flags: RowFlags = []
        flags.set(.base, if: entry.base != nil)
        flags.set(.pending, if: entry.pending != nil)
        flags.set(.spelling, if: entry.spelling != nil)
        flags.set(.overtaken, if: !entry.overtaken.isEmpty)
        flags.set(.local, if: entry.local != nil)
        flags.set(.ownTombstone, if: entry.isOwnTombstone)
        flags.set(.answered, if: entry.isAnswered)
        append(flags.rawValue)
        if let spelling = entry.spelling { append(text: spelling) }
        if let local = entry.local { append(row: local, shapes) }
        if let base = entry.base { append(row: base, shapes) }
        if let pending = entry.pending { append(pending: pending, shapes) }
        if entry.overtaken.isEmpty { return }
        append(varint: entry.overtaken.count)
        for state in entry.overtaken {
            append(value: state.version ?? .null)
            append(value: state.moment.map { .integer($0) } ?? .null)
        }
    }

    /// The entry of a row that was just inserted and nothing else.
    mutating func append(insertedRow shape: Int, _ values: UnsafeRawBufferPointer, _ position: Position) {
        append(RowFlags.pending.rawValue)
        let flags: PendingFlags = [.present, .operation, .isFromFirst, .kind(.insert)]
        append(flags.rawValue)
        append(varint: shape)
        append(counted: values)
        append(position: position)
    }

    private mutating func append(pending: PendingRow, _ shapes: some ShapeNumbering) {
        var flags: PendingFlags = []
        flags.set(.present, if: pending.isPresent)
        flags.set(.hidesBase, if: pending.hidesBase)
        flags.set(.several, if: pending.count > 1)
        flags.set(.frozen, if: pending.frozen != nil)
        if let operation = pending.operation {
            flags.formUnion([.operation, .kind(operation.kind)])
            flags.set(.isFromFirst, if: operation.first == pending.first)
        }
        append(flags.rawValue)
        append(row: pending.overlay, shapes)
        append(position: pending.first)
        if pending.count > 1 {
            append(position: pending.last)
            append(varint: pending.count)
        }
        if let operation = pending.operation, operation.first != pending.first { append(position: operation.first) }
        if let frozen = pending.frozen { append(frozen: frozen, shapes) }
    }

    private mutating func append(frozen: FrozenOperation, _ shapes: some ShapeNumbering) {
        append(frozen.kind.rawValue)
        append(frozen.status.rawValue)
        append(FrozenFlags(frozen).rawValue)
        append(position: frozen.position)
        append(position: frozen.through)
        append(text: frozen.operationID)
        append(row: frozen.columns, shapes)
        append(optional: frozen.ancestor, shapes)
        append(optional: frozen.server, shapes)
        append(varint: frozen.httpStatus ?? 0)
        append(optional: frozen.code)
        append(optional: frozen.message)
        if let revival = frozen.revival { append(optional: revival.tombstone, shapes) }
        if frozen.failures > 0 { append(varint: frozen.failures) }
        if let rival = frozen.rival { append(rival: rival, shapes) }
    }
}

extension ByteReader {
    package mutating func row(_ shapes: ShapeTable) throws(MalformedBytes) -> Row {
        guard let shape = shapes.shape(Int(truncatingIfNeeded: try varint())) else { throw MalformedBytes() }
        return Row(shape: shape, bytes: [UInt8](try counted()))
    }

    private mutating func optionalRow(_ shapes: ShapeTable) throws(MalformedBytes) -> Row? {
        try byte() == 0 ? nil : try row(shapes)
    }

    private mutating func optionalText() throws(MalformedBytes) -> String? {
        try byte() == 0 ? nil : try text()
    }

    package mutating func entry(_ shapes: ShapeTable) throws(MalformedBytes) -> RowEntry {
        let flags = RowFlags(rawValue: try byte())
        var entry = RowEntry()
        if flags.contains(.spelling) { entry.spelling = try text() }
        if flags.contains(.local) { entry.local = try row(shapes) }
        if flags.contains(.base) { entry.base = try row(shapes) }
        if flags.contains(.pending) { entry.pending = try pending(shapes) }
        if flags.contains(.overtaken) { entry.overtaken = try overtaken() }
        entry.isOwnTombstone = flags.contains(.ownTombstone)
        entry.isAnswered = flags.contains(.answered)
        return entry
    }

    private mutating func overtaken() throws(MalformedBytes) -> [Overtaken] {
        var states: [Overtaken] = []
        for _ in 0..<(try count()) {
            let version = try value()
            var moment: Int64?
            if case .integer(let number) = try value() { moment = number }
            states.append(Overtaken(version: version.isNull ? nil : version, moment: moment))
        }
        return states
    }

    private mutating func pending(_ shapes: ShapeTable) throws(MalformedBytes) -> PendingRow {
        let flags = PendingFlags(rawValue: try byte())
        let overlay = try row(shapes)
        let first = try position()
        var pending = PendingRow(first: first, last: first, count: 1, isPresent: flags.contains(.present))
        pending.overlay = overlay
        pending.hidesBase = flags.contains(.hidesBase)
        if flags.contains(.several) {
            pending.last = try position()
            pending.count = Int(truncatingIfNeeded: try varint())
        }
        if flags.contains(.operation) {
            guard let kind = flags.kind else { throw MalformedBytes() }
            pending.operation = .init(kind: kind, first: flags.contains(.isFromFirst) ? first : try position())
        }
        if flags.contains(.frozen) { pending.frozen = try frozen(shapes) }
        return pending
    }

    private mutating func frozen(_ shapes: ShapeTable) throws(MalformedBytes) -> FrozenOperation {
        guard let kind = OperationKind(rawValue: try byte()), let status = FrozenOperation.Status(rawValue: try byte())
        else { throw MalformedBytes() }
        let flags = FrozenFlags(rawValue: try byte())
        let position = try position()
        let through = try self.position()
        let operationID = try text()
        let columns = try row(shapes)
        var frozen = FrozenOperation(
            kind: kind, status: status, maybeSent: flags.contains(.maybeSent), position: position, through: through,
            operationID: operationID, columns: columns, ancestor: try optionalRow(shapes))
        frozen.isDecided = flags.contains(.decided)
        frozen.mayHaveBeenDone = flags.contains(.mayHaveBeenDone)
        frozen.server = try optionalRow(shapes)
        let httpStatus = Int(truncatingIfNeeded: try varint())
        frozen.httpStatus = httpStatus == 0 ? nil : httpStatus
        frozen.code = try optionalText()
        frozen.message = try optionalText()
        if flags.contains(.revival) { frozen.revival = Revival(tombstone: try optionalRow(shapes)) }
        if flags.contains(.failures) { frozen.failures = Int(truncatingIfNeeded: try varint()) }
        if flags.contains(.rival) { frozen.rival = try rival(shapes) }
        frozen.serverWorks = flags.contains(.serverWorks)
        return frozen
    }
}
