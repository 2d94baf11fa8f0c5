// The screen of all that waits for a person, in any table: what it says of each issue, and its view.

import Syncline

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
struct IssuesScreen {
    let monitor: SyncMonitor

    init(_ store: FieldStore) { monitor = SyncMonitor(store.database) }

    /// What an issue is about.
    static func title(of issue: SyncIssue) -> String {
        let row = issue.mine ?? issue.server ?? issue.base
        if case .string(let text)? = row?["text"] ?? row?["site"] { return text }
        return issue.address ?? issue.reason
    }

    /// Sends again what the server refused, after the office has changed what the user may do.
    func retry() {
        for issue in monitor.issues where issue.kind == .refused { monitor.resolve(issue, .retry) }
    }
}

#if canImport(SwiftUI)
    import SwiftUI

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    struct IssuesView: View {
        let screen: IssuesScreen

        var body: some View {
            SyncIssuesView(screen.monitor) { issue in IssuesScreen.title(of: issue) }
                .refreshable { await screen.retry() }
        }
    }
#endif
