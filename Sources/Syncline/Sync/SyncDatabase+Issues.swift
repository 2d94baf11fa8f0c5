// What needs a person, and the numbers of it: read once, observed, and acted on.

public import SynclineCore
import SynclineGround

extension SyncDatabase {
    /// Returns all that needs a person: conflicts and refused operations in plan order, then held rows, rows of the server
    /// that can't be read, and commits of other processes that can't be taken in.
    ///
    /// A store that was opened with `follow` has the first four kinds, and can do nothing about them.
    @concurrent
    public func issues() async throws(SyncError) -> [SyncIssue] {
        try read { reader throws(SyncError) in try reader.issues() } + facts.withLock { $0.waiting }
    }

    /// Observes ``issues()``.
    public func observeIssues() -> LiveResults<[SyncIssue], SyncError> { observeSync { $0.issues } }

    /// Does what a person chose about an issue. Automatic sync sends what is left of it.
    ///
    /// If a row of the issue has changed since it was read, it throws `stale-item` and changes nothing, and if the issue
    /// is gone, `operation-not-found`. To read an unreadable row again, all queries of its table are read from the
    /// beginning.
    @concurrent
    public func resolve(_ issue: SyncIssue, _ action: SyncIssue.Action) async throws(SyncError) {
        let (table, id) = (issue.table ?? "", issue.rowID ?? "")
        switch (issue.kind, action) {
        case (.conflict, .decide(let decision)), (.refused, .decide(let decision)):
            try await resolve(table: table, id: id, decision, shown: issue)
        case (.refused, .retry): try await resolve(table: table, id: id, .keepMine, shown: issue)
        case (.refused, .discard): try await resolve(table: table, id: id, .takeServer, shown: issue)
        case (.held, .retry): try await release(table: table, id: id)
        case (.held, .discard): _ = try await discard(table: table, id: id, force: false, shown: issue)
        case (.unreadable, .retry): if let reason = try await resync([table]).reason { throw reason }
        case (.waiting, .retry): try await refresh()
        case (.waiting, .discard):
            try await dropWaiting(issue.commit ?? "")
            // What is left of its process may be refused, too: then that is an issue.
            await takeInAndReport()
        case (.conflict, _), (.held, _), (.unreadable, _), (.waiting, _):
            throw SyncError(
                .operationNotFound, "that can't be done about this issue", hint: "`actions` lists what can be done.",
                address: issue.address)
        }
    }

    /// Returns the numbers of sync, and when it last worked.
    @concurrent
    public func health() async throws(SyncError) -> SyncHealth {
        let reader = try reader
        var outlook = SyncOutlook(facts: facts.withLock { $0 })
        (outlook.state.issues, outlook.state.pending) = (try reader.issues(), try reader.pendingCount)
        return try outlook.health(reader)
    }

    /// Observes ``health()``.
    public func observeHealth() -> LiveResults<SyncHealth, SyncError> {
        observeSync { [self] outlook throws(SyncError) in try outlook.health(try reader) }
    }

    /// Observes what is made of the outlook in the state and of what is known besides.
    func observeSync<Made: Hashable & Sendable>(
        _ make: @escaping @Sendable (SyncOutlook) throws(SyncError) -> Made
    ) -> LiveResults<Made, SyncError> {
        LiveResults { [self] in
            let list = LiveList(LiveOutlook(), writer) {}
            let shown = Mutex(Shown<Made>())
            return .init(signals: writer.observers.signals(for: list) { try? reader }) { [self] in
                shown.withLock { shown in
                    shown.state = list.take() ?? shown.state
                    guard let state = shown.state else { return nil }
                    let made = state.flatMap { state in
                        Result { () throws(SyncError) in
                            try make(SyncOutlook(state: state, facts: facts.withLock { $0 }))
                        }
                    }
                    if case .failure(let error) = made, error.endsReads { return nil }
                    if made == shown.made { return nil }
                    shown.made = made
                    return made
                }
            }
        }
    }
}

/// What an observer was shown last.
private struct Shown<Made: Sendable>: Sendable {
    var state: Result<LiveOutlook.Outlook, SyncError>?
    var made: Result<Made, SyncError>?
}

/// What the state and the open store know of sync.
struct SyncOutlook: Sendable {
    var state = LiveOutlook.Outlook()
    var facts: SyncFacts

    var issues: [SyncIssue] { state.issues + facts.waiting }

    func health(_ reader: StateReader) throws(SyncError) -> SyncHealth {
        SyncHealth(pending: state.pending, issues, try reader.cursors().map { ($0.table, $0.state) }, facts)
    }
}
