// Applies a request's limit to a filter's work, and converts its failures into the store's.

import SynclineCore
import SynclineWire

extension FilterWork {
    convenience init(_ schema: TableSchema, within limit: WorkLimit?) {
        self.init(schema.types, isServers: true, goesOn: limit.map { limit in { limit.stop == nil } })
    }

    /// Throws the reason why the work failed, if it did.
    func check(within limit: WorkLimit?) throws(StoreFailure) {
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
