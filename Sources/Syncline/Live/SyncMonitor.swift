// The state of sync for views: whether it runs, which changes are not pushed yet, and what the user must decide.

public import Foundation
public import Observation
import SegmentLog
public import SynclineCore

/// The state of sync, kept up to date for views.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
@Observable
public final class SyncMonitor {
    /// The number of changes that are not pushed yet.
    public private(set) var pending = 0
    /// The operations that await a decision: conflicts, and operations that the server refused.
    public private(set) var conflicts: [Conflict] = []
    /// What automatic sync is doing; nil if none is followed, or if it was stopped.
    public private(set) var phase: SyncStatus.Phase?
    /// When automatic sync last completed a round.
    public private(set) var lastRound: Date?
    @ObservationIgnored private var counting: Task<Void, Never>?
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Observes a store, and the automatic sync that runs now. For one that is started later, call ``follow(_:)``.
    public init(_ database: SyncDatabase) {
        let outlooks = database.writer.observe { LiveOutlook(countsPending: true) }.outcomes
        counting = Task { [weak self, erasure = database.writer.observers.signals(of: .erasure)] in
            for await outlook in outlooks { self?.take(outlook) }
            for await _ in erasure { self?.take(.success(LiveOutlook.Outlook())) }
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

    private func take(_ outlook: Result<LiveOutlook.Outlook, SyncError>) {
        // If the store can't be read, its queries say so; the monitor keeps what it has.
        guard case .success(let outlook) = outlook else { return }
        (pending, conflicts) = (outlook.pending, outlook.conflicts)
    }

    private func take(_ status: SyncStatus) {
        if Task.isCancelled { return }
        phase = status.phase == .stopped ? nil : status.phase
        lastRound = status.lastRound
    }
}
