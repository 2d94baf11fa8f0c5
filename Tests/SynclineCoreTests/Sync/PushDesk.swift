// Drives a push machine by hand: the store agrees to everything at once, and the test is the server.

@testable import SynclineCore

struct PushDesk {
    var machine: PushMachine
    /// Requests that wait for a response, in the order they were sent.
    private(set) var waiting: [(index: Int, request: ServerRequest)] = []
    /// Batched writes that wait for a response.
    private(set) var together: [(indices: [Int], requests: [WriteRequest])] = []
    private(set) var sent: [String] = []
    private(set) var recorded: [Answer.Outcome] = []
    private(set) var resolutions: [Resolution] = []
    private(set) var waits: [Int] = []
    /// Whether the app has other credentials when it is asked for them.
    var hasOthers = true
    private(set) var refreshes = 0
    /// How often it was recorded that the server works.
    private(set) var notes = 0
    /// The store's other information about every operation.
    var history = PushMachine.History()
    /// The result of every request to the store, once it is set.
    var trouble: SyncError?
    /// The operations that await a decision, according to the store.
    private var frozen: [Int: FrozenOperation] = [:]

    init(
        _ plan: [PlannedOperation], history: PushMachine.History = .init(),
        _ change: (inout PushSettings) -> Void = { _ in }
    ) {
        self.history = history
        var options = PushSettings()
        change(&options)
        machine = PushMachine(plan, ids: .exact, options)
        perform(machine.start())
    }

    static func operation(
        _ id: String, _ event: UInt64, _ kind: OperationKind = .update, state: PlannedOperation.State = .pending,
        isOneOfSeveral: Bool = false, maybeSent: Bool = false
    ) -> PlannedOperation {
        var operation = PlannedOperation(
            kind, state, maybeSent: maybeSent, at: Position(event: event), through: Position(event: event),
            rowKey: RowKey.bytes("t", id, .exact),
            code: state == .conflict ? "conflict" : state == .parked ? "rejected" : nil)
        operation.isOneOfSeveral = isOneOfSeveral
        return operation
    }

    private mutating func perform(_ actions: [PushMachine.Action]) {
        for action in actions {
            if case .store = action, let trouble {
                perform(machine.handle(.broken(trouble)))
                continue
            }
            switch action {
            case .store(.freeze(let index, let operation, _, _)):
                let columns = operation.kind == .delete ? .empty : Row([.init("a", .integer(Int64(index)))])
                let ancestor = Row([.init("version", .string("1")), .init("a", .integer(-1))])
                let frozen = FrozenOperation(
                    kind: operation.kind, status: .inFlight, maybeSent: true, position: operation.position,
                    through: operation.through, operationID: "O\(sent.count)", columns: columns,
                    ancestor: operation.kind == .insert ? nil : ancestor)
                self.frozen[index] = frozen
                let request = WriteRequest(frozen, table: operation.table, id: operation.id, .zumo2, TableTypes())
                perform(machine.handle(.frozen(index, .ready(request, history))))
            case .send(let index, let request):
                waiting.append((index, request))
                switch request {
                case .write(let write):
                    sent.append("\(write.undelete == nil ? "\(write.kind)" : "undelete") \(write.id)")
                case .row(_, let id, _): sent.append("get \(id)")
                case .list, .changes, .batch: sent.append("list")
                }
            case .sendTogether(let indices, let requests):
                together.append((indices, requests))
                sent.append("together " + requests.map(\.id).joined(separator: " "))
            case .store(.record(let index, let answer, _)):
                recorded.append(answer.outcome)
                if answer.outcome.goesOn {
                    goOn(index, answer)
                    continue
                }
                var conflict: Conflict?
                if case .conflict(let server, let code) = answer.outcome, var frozen = frozen[index] {
                    frozen.status = .conflict
                    frozen.mayHaveBeenDone = answer.mayHaveBeenDone
                    frozen.server = server
                    frozen.code = code
                    conflict = Conflict(table: answer.table, id: answer.id, frozen, TableTypes())
                }
                perform(machine.handle(.recorded(index, conflict, hasBase: conflict?.server != nil)))
            case .store(.noteServerWorks): notes += 1
            case .store(.resolve(let index, let resolution)):
                resolutions.append(resolution)
                perform(machine.handle(.resolved(index)))
            case .wait(let index, let attempt, _):
                waits.append(attempt)
                perform(machine.handle(.waited(index)))
            case .refreshCredentials:
                refreshes += 1
                perform(machine.handle(.refreshed(hasOthers ? nil : SyncError.unauthorized(nil))))
            }
        }
    }

    /// An insert that met a tombstone continues.
    private mutating func goOn(_ index: Int, _ answer: Answer) {
        guard var frozen = frozen[index] else { return }
        switch answer.outcome {
        case .tombstone(let row): frozen.revival = Revival(tombstone: row)
        case .revived(let row):
            frozen.revival = nil
            frozen.kind = .update
            frozen.ancestor = row.row
            frozen.columns = frozen.columns.difference(from: row.row ?? .empty, TableTypes())
        default: return
        }
        frozen.operationID = "O\(sent.count)"
        self.frozen[index] = frozen
        perform(
            machine.handle(
                .continued(index, WriteRequest(frozen, table: answer.table, id: answer.id, .zumo2, TableTypes()))))
    }

    /// Answers the request that has waited longest, or another.
    mutating func answer(_ reply: ServerReply, at place: Int = 0) {
        let (index, _) = waiting.remove(at: place)
        perform(machine.handle(.replied(index, reply)))
    }

    mutating func answer(
        _ status: Int, _ columns: [String: Value]? = nil, deleted: Bool = false, at place: Int = 0
    ) {
        guard let columns else { return answer(ServerReply(status: status, content: .unreadable("")), at: place) }
        let row = Row(columns.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
        answer(
            ServerReply(status: status, content: .row(ServerRow(id: id(at: place), columns: row, isDeleted: deleted))),
            at: place)
    }

    /// The server does what it is asked.
    mutating func agree(at place: Int = 0) { answer(200, ["version": .string("2")], at: place) }

    mutating func fail(_ failure: NetworkFailure, at place: Int = 0) {
        let (index, _) = waiting.remove(at: place)
        perform(machine.handle(.failed(index, failure)))
    }

    /// Answers a batch.
    mutating func answerTogether(_ reply: ServerReply) {
        let (indices, _) = together.removeFirst()
        perform(machine.handle(.repliedTogether(indices, reply)))
    }

    mutating func failTogether(_ failure: NetworkFailure) {
        let (indices, _) = together.removeFirst()
        for index in indices { perform(machine.handle(.failed(index, failure))) }
    }

    mutating func cancel(at place: Int = 0) {
        let (index, _) = waiting.remove(at: place)
        perform(machine.handle(.cancelled(index)))
    }

    private func id(at place: Int) -> String { machine.items[waiting[place].index].operation.id }

    var outcomes: [String] { machine.items.map { $0.report.reason?.code ?? $0.report.outcome.rawValue } }

    var thawed: Int { recorded.count { $0 == .notReceived } }
}
