// A list of what needs a person, with a button for each thing that can be done. It only shows a monitor's state and calls
// it, so what it does is tested without it.

#if canImport(SwiftUI)
    import SynclineCore
    public import SwiftUI

    /// The issues of a ``SyncMonitor``, each in a section with the differing values and its buttons.
    ///
    /// Every string is a key of the app's string catalog; without a translation the English one is shown. Each string and
    /// button is an element of its own for VoiceOver.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    public struct SyncIssuesView: View {
        private let monitor: SyncMonitor
        private let name: @MainActor (SyncIssue) -> String

        /// Shows the issues of a monitor.
        /// - Parameters:
        ///   - monitor: The monitor of the store.
        ///   - name: Returns what the user calls the row of an issue. By default that is its table and id.
        public init(
            _ monitor: SyncMonitor, name: @escaping @MainActor (SyncIssue) -> String = { $0.address ?? $0.table ?? "" }
        ) {
            self.monitor = monitor
            self.name = name
        }

        public var body: some View {
            List {
                if let error = monitor.error { Text(LocalizedStringKey(error.message)) }
                if monitor.issues.isEmpty { Text("Nothing needs a decision.") }
                ForEach(monitor.issues) { issue in section(issue) }
            }
        }

        private func section(_ issue: SyncIssue) -> some View {
            Section {
                Text(LocalizedStringKey(issue.reason))
                if let detail = issue.detail { Text(verbatim: detail) }
                ForEach(issue.lines, id: \.column) { line in
                    if issue.server == nil {
                        Text("\(line.column): \(text(line.mine)), before \(text(line.base))")
                    } else {
                        Text("\(line.column): \(text(line.mine)) here, \(text(line.server)) on the server")
                    }
                }
                ForEach(issue.actions, id: \.self) { action in
                    Button(LocalizedStringKey(action.title), role: action == .discard ? .destructive : nil) {
                        monitor.resolve(issue, action)
                    }
                    .disabled(monitor.resolving.contains(issue.id))
                }
            } header: {
                Text(verbatim: name(issue))
            }
        }

        private func text(_ value: Value?) -> String {
            switch value {
            case nil: "–"
            case .string(let text)?: text
            case let value?: "\(value)"
            }
        }
    }
#endif
