// Views of the guides. On Linux, `tools/apple-check` type-checks them.

#if canImport(SwiftUI)
    import SwiftUI
    import Syncline

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    struct OpenItems: View {
        @LiveModels var items: [TodoItem]

        init(_ todos: SyncTable<TodoItem>) {
            _items = LiveModels(todos.where { !$0.complete }.order(by: \.text))
        }

        var body: some View {
            List(items) { Text($0.text) }
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    struct OpenItemsPreview: View {
        @State private var todos: SyncTable<TodoItem>?

        var body: some View {
            if let todos {
                OpenItems(todos)
            } else {
                ProgressView().task { todos = try? await Self.items() }
            }
        }

        private static func items() async throws -> SyncTable<TodoItem> {
            let todos = try await SyncDatabase.open(MemoryStorage()).table(TodoItem.self)
            try await todos.insert(TodoItem(text: "milk"))
            return todos
        }
    }
#endif
