// A list that views can show: it is kept up to date, and views that use it are updated by Observation.

public import Observation
public import SynclineCore

/// The models of a query, kept up to date: `let open = LiveQuery(todos.where { !$0.complete })`.
///
/// The query runs and its rows are decoded on other threads; only the finished list is set on the main actor. If
/// changes arrive faster than the main actor takes lists, it gets only the newest one. Observing ends when the object
/// is released. It ends when the store is closed; after an erasure, `models` is empty.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
@Observable
public final class LiveQuery<Model: SyncModel> {
    /// The newest models; empty until the first list has been read.
    public private(set) var models: [Model] = []
    /// Why the newest list could not be made, such as a row that can't be decoded. `models` then keeps the
    /// previous list.
    public private(set) var error: SyncError?
    /// Whether a list has been read.
    public private(set) var isLoaded = false
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Observes a query.
    public init(_ query: SyncQuery<Model>) {
        show(query)
    }

    /// Observes all models of a table.
    public convenience init(_ table: SyncTable<Model>) {
        self.init(table.query)
    }

    deinit {
        following?.cancel()
    }

    /// Observes another query from now on. The old list remains until the new one has been read.
    public func show(_ query: SyncQuery<Model>) {
        following?.cancel()
        do throws(SyncError) {
            let outcomes = try query.observe().outcomes
            let erasure = query.table.untyped.database.writer.observers.signals(of: .erasure)
            following = Task { [weak self] in
                for await outcome in outcomes { self?.take(outcome) }
                for await _ in erasure { self?.take(.success([])) }
            }
        } catch {
            self.error = error
        }
    }

    private func take(_ outcome: Result<[Model], SyncError>) {
        // The task of a query that is no longer shown may still have one outcome.
        if Task.isCancelled { return }
        switch outcome {
        case .success(let found): (models, error, isLoaded) = (found, nil, true)
        case .failure(let failure): error = failure
        }
    }
}
