// A rule in words, for the person who wrote it.

import SynclineWire

extension RowRule {
    package var explanation: String {
        "rows " + alternatives.map(\.explanation).joined(separator: "; and rows ")
    }
}

extension RuleAlternative {
    fileprivate var explanation: String {
        var parts = bucket.conditions.map(\.explanation)
        if let column = bucket.column {
            guard let last = path.last else {
                parts.append("whose \(column) is the caller" + ofRole)
                return parts.joined(separator: " and ")
            }
            var words = "whose \(column) is the \(last.to) of \(last.explanation)"
            for step in path.dropLast().reversed() { words += " that is the \(step.to) of \(step.explanation)" }
            parts.append(words + " that is the caller" + ofRole)
        } else {
            parts.append("for every caller" + ofRole)
        }
        return parts.joined(separator: " and ")
    }

    private var ofRole: String { role.map { " with the role \($0)" } ?? "" }
}

extension RuleEdge {
    /// A row of the table, up to the column from which the path continues.
    fileprivate var explanation: String {
        let own = conditions.isEmpty ? "" : " " + conditions.map(\.explanation).joined(separator: " and ") + " and"
        return "a row of \(table)\(own) with a \(from)"
    }
}

extension RuleCondition {
    fileprivate var explanation: String { "whose \(column) is \(value.json)" }
}
