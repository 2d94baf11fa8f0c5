// The view of the screen. It only shows the screen's state and calls its actions, so what it does is tested without it.
// On Linux, `tools/apple-check` type-checks it.

#if canImport(SwiftUI)
    import SwiftUI
    import Syncline

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    struct InspectionView: View {
        @State private var screen: InspectionScreen
        @State private var text = ""

        init(_ store: FieldStore, _ inspection: Inspection.ID) {
            _screen = State(wrappedValue: InspectionScreen(store, inspection))
        }

        var body: some View {
            List {
                if let notice = screen.status.notice.text { Text(notice) }
                ForEach(screen.cards) { card in cardView(card) }
                content
                TextField("New finding", text: $text)
                    .onSubmit(report)
            }
            .refreshable { await screen.refresh() }
        }

        @ViewBuilder private var content: some View {
            switch screen.status.content {
            case .loading: ProgressView()
            case .empty: Text("No findings yet")
            case .failed(let reason): Text(reason)
            case .list:
                ForEach(screen.findings) { finding in row(finding) }
                Button("All fixed") { Task { await screen.fixAll() } }
            }
        }

        private func row(_ finding: Finding) -> some View {
            Button(finding.isFixed ? "✓ \(finding.text)" : finding.text) {
                Task { await screen.setFixed(finding, to: !finding.isFixed) }
            }
        }

        private func cardView(_ card: ConflictCard) -> some View {
            VStack {
                Text(card.title)
                ForEach(card.lines, id: \.column) { line in
                    Text("\(line.column): \(line.mine) here, \(line.server) on the server")
                }
                ForEach(card.choices) { choice in
                    Button(choice.title) { Task { await screen.decide(card, choice) } }
                }
            }
        }

        private func report() {
            let text = text
            self.text = ""
            Task { await screen.report(text) }
        }
    }
#endif
