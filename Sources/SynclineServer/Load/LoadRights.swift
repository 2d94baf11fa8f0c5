// What the clients of a load may do to its table, as the server says.

import SynclineCore

struct LoadRights: Hashable, Sendable {
    let read: Bool
    let insert: Bool
    let update: Bool
    let delete: Bool

    init(_ answer: Value) {
        /// A right to some rows may be one to those of the load.
        func may(_ operation: String) -> Bool {
            answer[member: operation] == .bool(true) || answer[member: operation] == "rows"
        }
        (read, insert) = (may("read"), may("insert"))
        (update, delete) = (may("update"), may("delete"))
    }

    /// Why a load can't begin; nil if it can.
    func fault(_ plan: LoadPlan) -> StartFailure? {
        let needs = [
            ("insert", insert || plan.writers == 0, "Use --writers 0"),
            ("delete", delete || plan.writers == 0 || plan.keeps, "Its rows stay with --keep"),
            ("read", read || plan.readers + plan.listeners == 0, "Use --readers 0 --listeners 0"),
        ]
        guard let missing = needs.first(where: { !$0.1 }) else { return nil }
        let hint = missing.2 + (plan.token == nil ? ", or give them a --token" : "")
        return StartFailure("the clients may not \(missing.0) in table \(plan.table)", hint: hint)
    }
}
