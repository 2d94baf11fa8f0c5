// A finding before a server serves, such as an error or a warning: the same stop a start and are printed by `check`.

import SynclineTables

struct Finding: Hashable, Sendable {
    enum Weight: String, Hashable, Sendable {
        /// The server does not start.
        case error
        /// It starts, and something will not work as expected.
        case warning
        case fact
    }

    var weight: Weight
    /// What it is about: `database`, or `table todoitem`.
    var place: String
    var code: String
    /// A sentence without its end.
    var message: String
    /// What to do about it.
    var mend: String?

    init(_ weight: Weight, _ place: String, _ code: String, _ message: String, mend: String? = nil) {
        (self.weight, self.place, self.code) = (weight, place, code)
        (self.message, self.mend) = (message, mend)
    }

    /// Message and hint in one sentence.
    var text: String { mend.map { "\(message); \($0)" } ?? message }
}

extension StoreFailure {
    init(_ finding: Finding) { self = .refused(Refusal(500, finding.code, finding.text)) }

    /// Throws the first finding that stops a start.
    static func check(_ findings: [Finding]) throws(StoreFailure) {
        if let error = findings.first(where: { $0.weight == .error }) { throw StoreFailure(error) }
    }
}
