// The first screen: all inspections, each with its open findings.

import Observation
import Syncline

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
@Observable
final class OverviewScreen {
    struct Line: Identifiable, Hashable {
        let id: Inspection.ID
        let site: String
        let toFix: Int
    }

    private(set) var lines: [Line] = []
    @ObservationIgnored private var following: Task<Void, Never>?

    init(_ store: FieldStore) throws {
        let outcomes = try store.overview().observe().outcomes
        following = Task { [weak self] in
            for await outcome in outcomes {
                // If a row can't be read, the lines before stay.
                if case .success(let page) = outcome { self?.show(page) }
            }
        }
    }

    deinit {
        following?.cancel()
    }

    private func show(_ page: [(model: Inspection, related: [Finding])]) {
        lines = page.map { inspection, findings in
            Line(id: inspection.id, site: inspection.site, toFix: findings.count)
        }
    }
}
