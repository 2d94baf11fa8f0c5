// The screen of one inspection: what its view shows, and what its buttons do.

import Observation
import Syncline

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
@Observable
final class InspectionScreen {
    private let store: FieldStore
    private let inspection: Inspection.ID
    private let live: LiveQuery<Finding>
    private let monitor: SyncMonitor
    private var actionError: SyncError?

    init(_ store: FieldStore, _ inspection: Inspection.ID) {
        self.store = store
        self.inspection = inspection
        live = LiveQuery(store.findings(of: inspection))
        monitor = SyncMonitor(store.database)
    }

    var findings: [Finding] { live.models }

    /// The conflicts of these findings.
    var cards: [ConflictCard] {
        monitor.conflicts.filter { conflict in
            let row = conflict.mine ?? conflict.base
            return conflict.table == Finding.table && row?["inspectionID"] == .string(inspection)
        }
        .map(ConflictCard.init)
    }

    var status: ScreenStatus {
        ScreenStatus(
            .init(
                isLoaded: live.isLoaded, count: live.models.count, listError: live.error, actionError: actionError,
                unsent: monitor.pending, undecided: cards.count, phase: monitor.phase))
    }
}

// MARK: Actions

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
extension InspectionScreen {
    func report(_ text: String) async {
        await perform { [inspection] store in try await store.report(text, in: inspection) }
    }

    func setFixed(_ finding: Finding, to isFixed: Bool) async {
        await perform { store in try await store.setFixed(finding.id, to: isFixed) }
    }

    func fixAll() async {
        await perform { [inspection] store in try await store.fixAll(of: inspection) }
    }

    func remove(_ finding: Finding) async {
        await perform { store in try await store.remove(finding.id) }
    }

    func decide(_ card: ConflictCard, _ choice: ConflictCard.Choice) async {
        await perform { store in
            let conflict = card.conflict
            try await store.database.resolve(table: conflict.table, id: conflict.id, choice.decision)
        }
    }

    /// Reverts the newest change that was not sent.
    func undo() async {
        await perform { store in try await store.database.undo() }
    }

    /// Starts a round of automatic sync now. The status shows how it goes.
    func refresh() {
        store.database.automaticSync?.syncNow()
    }

    /// Does what the user asked for. If it fails, the status says why, until an action succeeds.
    private func perform(_ action: @Sendable (FieldStore) async throws -> some Any) async {
        do {
            _ = try await action(store)
            actionError = nil
        } catch {
            actionError = error as? SyncError ?? SyncError(.internalError, "\(error)")
        }
    }
}
