// A load: its clients, each a task that sends a request when its last one was answered. What they decide is in the pure
// types beside this one.

import SynclineCore
import SynclineGround
import SynclineWire

final class LoadRun: Sendable {
    typealias Instant = ContinuousClock.Instant

    struct State: Sendable {
        var schedule: LoadSchedule
        var account = LoadAccount()
        var rows: LoadRows
        var news: LoadNews
    }

    /// What the load takes from the system.
    struct World: Sendable {
        var now: @Sendable () -> Instant
        var pause: @Sendable (Duration) async -> Void
        var chance: (high: UInt64, low: UInt64)

        static var system: World {
            let system = SystemServerEnvironment()
            return World(now: { .present }, pause: { await system.pause($0) }, chance: system.chance())
        }
    }

    let plan: LoadPlan
    let state: Mutex<State>
    let world: World
    private let transport: any HTTPTransport
    private let codec: WireCodec
    /// After a failure a client waits, as clients do, instead of filling a server that is down with requests.
    static let wait = Duration.milliseconds(100)

    init(_ plan: LoadPlan, _ transport: any HTTPTransport, _ world: World) {
        (self.plan, self.transport, self.world) = (plan, transport, world)
        codec = WireCodec(.zumo2, tables: plan.root)
        state = Mutex(
            State(
                schedule: LoadSchedule(plan, at: world.now()), rows: LoadRows(plan.item, world.chance),
                news: LoadNews(listeners: plan.listeners)))
    }

    /// Runs the load to its end, and removes its rows.
    @concurrent
    func run() async throws(StartFailure) -> LoadReport {
        let rights = try await rights()
        state.withLock { state in
            if !state.schedule.isStopped { state.schedule = LoadSchedule(plan, at: world.now()) }
        }
        await send(rights)
        let removal = plan.keeps ? LoadRemoval(state.withLock { $0.rows }) : await remove()
        return state.withLock { state in
            var account = state.account
            account.add(.event, LoadFailure(nil, "not heard of at the end"), count: state.news.unheard)
            return LoadReport(
                plan: plan, measured: state.schedule.measured, account: account, removal: removal,
                prefix: state.rows.prefix)
        }
    }

    /// Lets the clients send, and the listeners hear of it.
    private func send(_ rights: LoadRights) async {
        // Ends with this function.
        async let _ = listen()
        await withTaskGroup(of: Void.self) { clients in
            for _ in 0..<plan.writers { clients.addTask { await self.write(rights) } }
            for _ in 0..<plan.readers { clients.addTask { await self.read() } }
        }
        await hearTheRest()
    }

    private func listen() async {
        await withTaskGroup(of: Void.self) { listeners in
            for number in 0..<plan.listeners { listeners.addTask { await self.listen(number) } }
        }
    }

    /// Lets the running requests be the last.
    func stop() { state.withLock { $0.schedule.stop() } }

    // MARK: Requests

    func ask(_ request: ServerRequest) async -> (answer: LoadAnswer, began: Instant, ended: Instant) {
        let began = world.now()
        do {
            let http = try codec.request(request, token: plan.token)
            let response = try await transport.send(http)
            let ended = world.now()
            return (.success(codec.reply(response, to: request)), began, ended)
        } catch let failure as NetworkFailure {
            return (.failure(LoadFailure(failure)), began, world.now())
        } catch {
            return (.failure(LoadFailure(nil, "\(error)")), began, world.now())
        }
    }

    /// Asks what the clients may do, before anything is changed.
    private func rights() async throws(StartFailure) -> LoadRights {
        let response: HTTPResponse
        do throws(NetworkFailure) {
            response = try await transport.send(
                codec.withCommonHeaders(codec.access(to: plan.table, id: nil), token: plan.token))
        } catch {
            throw StartFailure("\(plan.url) does not answer: \(LoadFailure(error).reason)")
        }
        let reply = codec.reply(response, to: .row(table: "", id: ""))
        if let failure = LoadFailure(reply) { throw StartFailure("\(plan.url) answered \(failure.text)") }
        guard reply.capabilities.contains(.access), let answer = try? Value(json: response.body) else {
            throw StartFailure("\(plan.url) is not a syncline-server")
        }
        let rights = LoadRights(answer)
        if let fault = rights.fault(plan) { throw fault }
        return rights
    }

    // MARK: Clients

    /// Whether a client's next request is measured; nil if it ends.
    private func next(_ isFirst: inout Bool) -> Bool? {
        defer { isFirst = false }
        if Task.isCancelled { return nil }
        return state.withLock { [isFirst] in $0.schedule.next(isFirst: isFirst, at: world.now()) }
    }

    /// Inserts rows, then updates them, then inserts others.
    private func write(_ rights: LoadRights) async {
        var isFirst = true
        var own: Range<Int>?
        while let isMeasured = next(&isFirst) {
            let kind = own == nil ? LoadKind.insert : .update
            let (numbers, writes) = state.withLock { [own] state in
                let numbers = own ?? state.rows.take(plan.batch)
                return (numbers, state.rows.writes(kind == .insert ? .insert : .update, numbers, of: plan.table))
            }
            let asked = await ask(writes.count == 1 ? .write(writes[0]) : .batch(writes))
            let answers = asked.answer.writes(writes.count)
            let failure = answers.compactMap(\.failure).first
            state.withLock { state in
                let hasAll = kind == .insert && state.rows.inserted(numbers, answers)
                own = hasAll && rights.update ? numbers : nil
                if let failure { state.account.add(kind, failure) }
                guard isMeasured else { return }
                let rows = answers.count { $0.failure == nil }
                state.note(kind, asked.began, asked.ended, rows: rows, isDone: failure == nil)
                let changes = answers.compactMap { (try? $0.get())?.change }
                guard let change = changes.max() else { return }
                for _ in 0..<state.news.committed(change, at: asked.ended) {
                    state.account.add(.event, after: .zero, rows: 0)
                }
            }
            if failure != nil { await world.pause(LoadRun.wait) }
        }
    }

    private func read() async {
        var isFirst = true
        var reading = LoadReading(plan.table)
        while let isMeasured = next(&isFirst) {
            let own = state.withLock { state in state.rows.made.last.map(state.rows.id) }
            let (kind, request) = reading.next(other: own)
            let asked = await ask(request)
            let failure = asked.answer.readFailure(kind)
            let rows = reading.take(asked.answer)
            state.withLock { state in
                if let failure { state.account.add(kind, failure) }
                if isMeasured { state.note(kind, asked.began, asked.ended, rows: rows, isDone: failure == nil) }
            }
            if failure != nil { await world.pause(LoadRun.wait) }
        }
    }

    /// Holds an event stream, and opens it again if it ends.
    private func listen(_ number: Int) async {
        let request = codec.withCommonHeaders(codec.events(of: [plan.table]), token: plan.token)
        while !Task.isCancelled {
            var failure = LoadFailure(nil, "the event stream ended")
            state.withLock { $0.news.begin(number) }
            do throws(NetworkFailure) {
                let response = try await transport.listen(request) { [self] piece in
                    let now = world.now()
                    state.withLock { state in
                        for age in state.news.take(piece, number, at: now) {
                            state.account.add(.event, after: age, rows: 0)
                        }
                    }
                }
                failure = LoadFailure(codec.reply(response, to: .row(table: "", id: ""))) ?? failure
            } catch {
                failure = LoadFailure(error)
            }
            if Task.isCancelled { return }
            state.withLock { [failure] in $0.account.add(.event, failure) }
            await world.pause(LoadRun.wait)
        }
    }

    /// Lets listeners hear of the last commits, for up to five seconds.
    private func hearTheRest() async {
        for _ in 0..<50 where !Task.isCancelled {
            if state.withLock({ $0.news.unheard == 0 }) { return }
            await world.pause(LoadRun.wait)
        }
    }
}

extension LoadRun.State {
    /// Records a measured request. Failures count at any time: the warm-up hides none.
    fileprivate mutating func note(
        _ kind: LoadKind, _ began: LoadRun.Instant, _ ended: LoadRun.Instant, rows: Int, isDone: Bool
    ) {
        schedule.ended(at: ended)
        if isDone { account.add(kind, after: began.duration(to: ended), rows: rows) }
    }
}

extension LoadAnswer {
    fileprivate var failure: LoadFailure? { if case .failure(let failure) = self { failure } else { nil } }
}
