// The state of sync for views: whether it runs, what is not pushed yet, what a person must decide, and the decision.

public import Foundation
public import Observation
public import SynclineCore

/// The state of sync, kept up to date for views.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
@Observable
public final class SyncMonitor {
    /// The number of changes that are not pushed yet.
    public private(set) var pending = 0
    /// What needs a person: see ``SyncDatabase/issues()``.
    public private(set) var issues: [SyncIssue] = []
    /// The numbers of sync, and when it last worked; nil until they have been read.
    public private(set) var health: SyncHealth?
    /// The issues about which something is being done.
    public private(set) var resolving: Set<SyncIssue.ID> = []
    /// Why the last call of ``resolve(_:_:)`` failed; nil if it did not.
    public private(set) var error: SyncError?
    /// What automatic sync is doing; nil if none is followed, or if it was stopped.
    public private(set) var phase: SyncStatus.Phase?
    /// When automatic sync last completed a round.
    public private(set) var lastRound: Date?
    @ObservationIgnored private let database: SyncDatabase
    @ObservationIgnored private var counting: Task<Void, Never>?
    @ObservationIgnored private var following: Task<Void, Never>?

    /// The operations that await a decision: conflicts, and operations that the server refused.
    public var conflicts: [Conflict] { issues.compactMap(\.conflict) }

    /// Observes a store, and the automatic sync that runs now. For one that is started later, call ``follow(_:)``.
    public init(_ database: SyncDatabase) {
        self.database = database
        let outcomes = database.observeSync { outlook throws(SyncError) in
            Shown(issues: outlook.issues, health: try outlook.health(try database.reader))
        }.outcomes
        counting = Task { [weak self, erasure = database.writer.observers.signals(of: .erasure)] in
            for await outcome in outcomes { self?.take(outcome) }
            for await _ in erasure { self?.take(.success(Shown(issues: [], health: SyncHealth()))) }
        }
        if let sync = database.automaticSync { follow(sync) }
    }

    deinit {
        counting?.cancel()
        following?.cancel()
    }

    /// Shows the phases of an automatic sync from now on.
    public func follow(_ sync: AutomaticSync) {
        following?.cancel()
        following = Task { [weak self, statuses = sync.statuses()] in
            for await status in statuses { self?.take(status) }
        }
    }

    /// Begins what a person chose about an issue: ``SyncDatabase/resolve(_:_:)``. The issue is in ``resolving`` until it is
    /// done; if it fails, ``error`` says why.
    public func resolve(_ issue: SyncIssue, _ action: SyncIssue.Action) {
        guard resolving.insert(issue.id).inserted else { return }
        Task {
            do throws(SyncError) {
                try await database.resolve(issue, action)
                error = nil
            } catch {
                self.error = error
            }
            resolving.remove(issue.id)
        }
    }

    private struct Shown: Hashable, Sendable {
        var issues: [SyncIssue]
        var health: SyncHealth
    }

    private func take(_ outcome: Result<Shown, SyncError>) {
        // If the store can't be read, its queries say so; the monitor keeps what it has.
        guard case .success(let shown) = outcome else { return }
        // Views are updated by what they read only.
        if pending != shown.health.pending { pending = shown.health.pending }
        if issues != shown.issues { issues = shown.issues }
        health = shown.health
    }

    private func take(_ status: SyncStatus) {
        if Task.isCancelled { return }
        phase = status.phase == .stopped ? nil : status.phase
        lastRound = status.lastRound
    }
}
