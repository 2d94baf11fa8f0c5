// A live list as a property of a SwiftUI view.

#if canImport(SwiftUI)
    import SynclineCore
    public import SwiftUI

    /// The models of a query, as a property of a view:
    ///
    /// ```
    /// struct OpenItems: View {
    ///     @LiveModels var items: [TodoItem]
    ///     init(_ todos: SyncTable<TodoItem>) { _items = LiveModels(todos.where { !$0.complete }) }
    ///     var body: some View { List(items) { Text($0.text) } }
    /// }
    /// ```
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    @MainActor
    @propertyWrapper
    public struct LiveModels<Model: SyncModel>: DynamicProperty {
        /// SwiftUI creates a view's value often, and keeps the first holder for as long as the view exists.
        @State private var holder = Holder()
        private let query: SyncQuery<Model>

        /// Observes a query. If the view is created again with another query, it shows that one.
        public init(_ query: SyncQuery<Model>) {
            self.query = query
        }

        /// Observes all models of a table.
        public init(_ table: SyncTable<Model>) {
            self.init(table.query)
        }

        /// The newest models.
        public var wrappedValue: [Model] { projectedValue.models }

        /// The live query, for its error and whether a list has been read.
        public var projectedValue: LiveQuery<Model> { holder.live(query) }

        @MainActor
        private final class Holder {
            private var live: (query: SyncQuery<Model>, object: LiveQuery<Model>)?

            nonisolated init() {}

            func live(_ query: SyncQuery<Model>) -> LiveQuery<Model> {
                if let live {
                    if !live.query.isSame(as: query) { live.object.show(query) }
                    self.live?.query = query
                    return live.object
                }
                let object = LiveQuery(query)
                live = (query, object)
                return object
            }
        }
    }

    extension SyncQuery {
        fileprivate func isSame(as other: SyncQuery) -> Bool {
            table.untyped.database === other.table.untyped.database && outcome == other.outcome
        }

        private var outcome: Result<RowQuery, SyncError> { Result { () throws(SyncError) in try rowQuery() } }
    }
#endif
