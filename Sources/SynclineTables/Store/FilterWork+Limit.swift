// Applies a request's limit to a filter's work, and converts its failures into the store's.

package import SynclineCore

extension FilterWork {
    package convenience init(_ schema: ServedTable, within limit: WorkLimit?) {
        self.init(schema.types, isServers: true, goesOn: limit.map { limit in { limit.stop == nil } })
    }

    /// Throws the reason why the work failed, if it did.
    package func check(within limit: WorkLimit?) throws(StoreFailure) {
        switch failure {
        case nil: return
        case .stopped?: try limit?.check()
        case .tooLarge?:
            throw .refused(
                Refusal(
                    400, "filter-too-large",
                    "The filter makes more than \(FilterWork.textLimit >> 20) MiB of text from one row"))
        }
    }
}
