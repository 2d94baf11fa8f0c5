// Every phase of an operation meets every input: what it waits for has an effect, and anything else stops the push with a
// sentence and loses nothing.

import Testing

@testable import SynclineCore

@Suite struct PushPhaseTests {
    enum Told: String, CaseIterable {
        case frozen, nothing, blocked, replied, repliedTogether, failed, recorded, continued, resolved, waited,
            cancelled
        case refreshed, broken
    }

    /// What an operation waits for in each phase.
    private static func waitsFor(_ phase: PushMachine.Phase) -> Set<Told> {
        switch phase {
        case .planned, .ready, .waiting, .finished: [.broken]
        case .freezing: [.frozen, .nothing, .blocked, .cancelled, .broken]
        case .sent: [.replied, .repliedTogether, .failed, .cancelled, .broken]
        case .fetching: [.replied, .failed, .cancelled, .broken]
        case .pausing: [.waited, .cancelled, .broken]
        case .waitingForCredentials: [.refreshed, .broken]
        case .deciding, .settling, .givingUp: [.recorded, .cancelled, .broken]
        case .proceeding: [.recorded, .continued, .cancelled, .broken]
        case .resolving: [.resolved, .cancelled, .broken]
        }
    }

    @Test(arguments: PushStage.all, Told.allCases)
    func `an unexpected input stops the push, and every expected one has an effect`(
        _ stage: PushStage, _ told: Told
    ) throws {
        var stage = stage
        let before = stage.item
        let wasStopped = stage.machine.stop
        var isLegal = Self.waitsFor(before.phase).contains(told)
        // One of those that wait together waits in the name of all.
        if stage.index == stage.machine.batches.waitsFor {
            isLegal = isLegal || [.waited, .cancelled].contains(told)
        }
        let actions = stage.tell(stage.input(told))
        if isLegal {
            #expect(stage.machine.stop?.code != .internalError)
            #expect(!actions.isEmpty || stage.machine.stop != nil || stage.item.phase.words != before.phase.words)
            return
        }
        let stop = try #require(stage.machine.stop)
        if let wasStopped {
            #expect(stop == wasStopped)
        } else {
            #expect(stop.code == .internalError)
            #expect(stop.message.hasPrefix("unexpected "))
            #expect(stop.hint != nil)
            if told != .refreshed {
                #expect(stop.message.hasSuffix("for t/\(before.operation.id) \(before.phase.words)"))
            }
        }
        #expect(actions.filter(\.begins).isEmpty, "nothing more begins")
        if case .finished = before.phase {
            #expect(stage.item.report == before.report)
        } else if told != .refreshed {
            #expect(stage.item.report.outcome == .pending)
        }
        // What is on its way is waited for, and its answers count.
        stage.finish()
        #expect(stage.machine.tally.underWay.isEmpty)
        #expect(stage.machine.stop == stop)
        let unexplained = stage.machine.items.filter { $0.report.outcome == .pending && $0.report.reason == nil }
        #expect(unexplained.isEmpty)
    }

    @Test func `every phase is met`() {
        let phases = Set(PushStage.all.map(\.item.phase.words))
        #expect(phases.count == 14)
    }

    @Test func `an answer for an unknown operation, or a second one, stops the push`() {
        let reply = ServerReply(status: 200, content: .unreadable(""))
        for input in [PushMachine.Input.replied(2, reply), .resolved(-1), .repliedTogether([0, 2], reply)] {
            var stage = PushStage.sent
            stage.tell(input)
            #expect(
                stage.machine.stop?.message
                    == "unexpected \(stage.words(input)) for an operation that is not in the push")
        }
        var stage = PushStage.sentTogether
        stage.tell(.repliedTogether([0, 0], ServerReply(status: 200, content: .results([reply, reply]))))
        #expect(stage.machine.stop?.code == .internalError)
        let outcomes = stage.machine.items.map(\.report.outcome)
        #expect(outcomes == [.pending, .pending])
    }

    @Test func `several operations that wait together and are cancelled thaw once each`() {
        var stage = PushStage.waiting
        let actions = stage.tell(.cancelled(0))
        let records = actions.filter { if case .store(.record) = $0 { true } else { false } }
        #expect(records.count == 2)
        #expect(stage.machine.stop?.code == .cancelled)
        stage.finish()
        #expect(stage.machine.tally.underWay.isEmpty)
    }
}

/// A push of two operations, one of which is in a phase.
struct PushStage: Sendable, CustomTestStringConvertible {
    private(set) var machine: PushMachine
    private(set) var index = 0
    /// What was asked and is not done.
    private var open: [PushMachine.Action]

    var item: PushMachine.Item { machine.items[index] }

    var testDescription: String { "\(item.operation.id) \(item.phase.words)" }

    private init(_ change: (inout PushSettings) -> Void = { _ in }) {
        var options = PushSettings()
        options.policy = .clientWins
        change(&options)
        machine = PushMachine(
            [PushDesk.operation("a", 1, .insert), PushDesk.operation("b", 2)], ids: .exact, options)
        open = machine.start()
    }

    /// Tells the machine something, and takes what it answers off the list of what is open.
    @discardableResult mutating func tell(_ input: PushMachine.Input) -> [PushMachine.Action] {
        let actions = machine.handle(input)
        open += actions
        expectConsistency()
        return actions
    }

    /// What is kept beside the phases follows from them.
    private func expectConsistency() {
        var tally = PushTally()
        for (index, item) in machine.items.enumerated() { tally.move(index, from: .planned, to: item.phase) }
        #expect(machine.tally == tally)
        let ready = machine.items.indices.filter { if case .ready = machine.items[$0].phase { true } else { false } }
        #expect(machine.batches.ready.sorted() == ready)
        let waiting = machine.items.indices.filter {
            if case .waiting = machine.items[$0].phase { true } else { false }
        }
        #expect(machine.batches.waiting.sorted() == waiting)
    }

    /// Does the first that is open, with an agreeable server and a store that works, or as it is told.
    mutating func step(_ input: PushMachine.Input? = nil) {
        let action = open.removeFirst()
        if let input = input ?? agreed(action) { tell(input) }
    }

    mutating func finish() {
        for _ in 0..<100 where !open.isEmpty { step() }
        #expect(open.isEmpty)
    }

    private func agreed(_ action: PushMachine.Action) -> PushMachine.Input? {
        switch action {
        case .store(.freeze(let index, _, _, _)): input(.frozen, index)
        case .store(.record(let index, let answer, _)):
            answer.outcome.goesOn ? input(.continued, index) : .recorded(index, nil, hasBase: false)
        case .store(.resolve(let index, _)): .resolved(index)
        case .store(.noteServerWorks): nil
        case .send(let index, _): input(.replied, index)
        case .sendTogether(let indices, _):
            .repliedTogether(
                indices, ServerReply(status: 200, content: .results(indices.map { reply(200, to: $0) })))
        case .wait(let index, _, _): .waited(index)
        case .refreshCredentials: .refreshed(nil)
        }
    }

    // MARK: Inputs

    func input(_ told: PushPhaseTests.Told, _ which: Int? = nil) -> PushMachine.Input {
        let index = which ?? index
        switch told {
        case .frozen:
            var history = PushMachine.History()
            history.mayRevive = true
            return .frozen(index, .ready(request(index), history))
        case .nothing: return .frozen(index, .nothing)
        case .blocked: return .frozen(index, .blocked(conflict(index)))
        case .replied: return .replied(index, reply(200, to: index))
        case .repliedTogether:
            return .repliedTogether([index], ServerReply(status: 200, content: .results([reply(200, to: index)])))
        case .failed: return .failed(index, .offline("gone"))
        case .recorded: return .recorded(index, nil, hasBase: false)
        case .continued: return .continued(index, request(index))
        case .resolved: return .resolved(index)
        case .waited: return .waited(index)
        case .cancelled: return .cancelled(index)
        case .refreshed: return .refreshed(nil)
        case .broken: return .broken(SyncError(.diskFull, "full"))
        }
    }

    func words(_ input: PushMachine.Input) -> String { input.words }

    private func reply(
        _ status: Int, to index: Int, version: String? = "2", isDeleted: Bool = false
    ) -> ServerReply {
        guard let version else { return ServerReply(status: status, content: .unreadable("")) }
        let columns = Row([.init("version", .string(version)), .init("a", .integer(7))])
        let row = ServerRow(id: machine.items[index].operation.id, columns: columns, isDeleted: isDeleted)
        return ServerReply(status: status, content: .row(row))
    }

    private func frozen(_ index: Int) -> FrozenOperation {
        let operation = machine.items[index].operation
        return FrozenOperation(
            kind: operation.kind, status: .inFlight, maybeSent: true, position: operation.position,
            through: operation.through, operationID: "O\(index)", columns: Row([.init("a", .integer(1))]), ancestor: nil
        )
    }

    private func request(_ index: Int) -> WriteRequest {
        let operation = machine.items[index].operation
        return WriteRequest(frozen(index), table: operation.table, id: operation.id, .zumo2, TableTypes())
    }

    private func conflict(_ index: Int) -> Conflict {
        var frozen = frozen(index)
        frozen.status = .conflict
        frozen.server = Row([.init("version", .string("2")), .init("a", .integer(7))])
        guard let conflict = Conflict(table: "t", id: machine.items[index].operation.id, frozen, TableTypes()) else {
            preconditionFailure("a frozen operation in conflict is one")
        }
        return conflict
    }

    // MARK: The way to each phase

    private func then(_ told: (PushStage) -> PushMachine.Input) -> PushStage {
        var next = self
        next.step(told(self))
        return next
    }

    private func at(_ index: Int) -> PushStage {
        var other = self
        other.index = index
        return other
    }

    static let freezing = PushStage()
    static let sent = freezing.then { $0.input(.frozen) }
    static let deciding = sent.then { .replied(0, $0.reply(412, to: 0)) }
    static let resolving = deciding.then { .recorded(0, $0.conflict(0), hasBase: true) }
    static let settling = sent.then { .replied(0, $0.reply(200, to: 0)) }
    static let readyOfTwo = PushStage { $0.takesBatches = true }.then { $0.input(.frozen) }
    static let sentTogether = readyOfTwo.then { $0.input(.frozen, 1) }
    static let waiting = sentTogether.then { stage in
        var reply = ServerReply(
            status: 200, content: .results([0, 1].map { stage.reply(429, to: $0, version: nil) }))
        reply.capabilities = .batch
        return .repliedTogether([0, 1], reply)
    }

    static let all: [PushStage] = [
        freezing.at(1), freezing, readyOfTwo, sent, sentTogether.at(1),
        sent.then { .replied(0, $0.reply(204, to: 0, version: nil)) },
        sent.then { .replied(0, $0.reply(429, to: 0, version: nil)) },
        waiting, waiting.at(1),
        sent.then { .replied(0, $0.reply(401, to: 0, version: nil)) },
        deciding,
        sent.then { .replied(0, $0.reply(409, to: 0, isDeleted: true)) },
        resolving, resolving.then { _ in .resolved(0) },
        settling,
        PushStage { $0.retries = 0 }.then { $0.input(.frozen) }.then {
            .replied(0, $0.reply(429, to: 0, version: nil))
        },
        settling.then { $0.input(.recorded) },
    ]
}

extension PushMachine.Action {
    /// Whether it begins something: what is on its way only ends.
    fileprivate var begins: Bool {
        switch self {
        case .store(.freeze), .store(.resolve), .send, .sendTogether, .wait, .refreshCredentials: true
        case .store(.record), .store(.noteServerWorks): false
        }
    }
}
