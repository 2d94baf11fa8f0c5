// What the rules of all tables need to know about the rows of each: the buckets in which its rows are, and the steps that
// its rows make.

import SynclineGround
package import SynclineWire

package struct RightsPlan: Hashable, Sendable {
    private var tables: [String: TableRights] = [:]

    package init(_ definitions: [TableDefinition]) {
        for definition in definitions {
            if let rule = definition.rules.read {
                tables[definition.name, default: TableRights()].terms = rule.alternatives.map { RuleTerm($0) }
                for alternative in rule.alternatives { tables[definition.name]?.note(alternative.bucket) }
            }
            for step in definition.rules.all.flatMap(\.rule.edges) {
                tables[step.table, default: TableRights()].note(step)
            }
        }
    }

    package subscript(table table: String) -> TableRights { tables[table] ?? TableRights() }
}

package struct TableRights: Hashable, Sendable {
    /// The rule about what callers see, over time.
    package var terms: [RuleTerm] = []
    package private(set) var buckets: [RuleBucket] = []
    package private(set) var steps: [RuleEdge] = []

    package init() {}

    fileprivate mutating func note(_ bucket: RuleBucket) {
        if !buckets.contains(bucket) { buckets.append(bucket) }
    }

    fileprivate mutating func note(_ step: RuleEdge) {
        if !steps.contains(step) { steps.append(step) }
    }
}

/// What a write of a row changes about rights.
package struct RightsChange: Sendable {
    /// The steps that the row no longer makes, and those that it makes now.
    package private(set) var ended: [(step: RuleEdge, ends: RuleEnds)] = []
    package private(set) var begun: [(step: RuleEdge, ends: RuleEnds)] = []
    /// The buckets that the row leaves, and those that it enters.
    package private(set) var left: [RuleBucket] = []
    package private(set) var entered: [(bucket: RuleBucket, name: String)] = []
    package let isDeletion: Bool

    package init(_ rights: TableRights, from old: TableRow?, to new: TableRow) {
        isDeletion = new.isDeleted
        for step in rights.steps {
            let (before, after) = (old.flatMap(step.ends), step.ends(of: new))
            if before == after { continue }
            if let before { ended.append((step, before)) }
            if let after { begun.append((step, after)) }
        }
        for bucket in rights.buckets {
            let (before, after) = (old.flatMap(bucket.name), bucket.name(of: new))
            if let before, let after, before.hasSameBytes(as: after) { continue }
            if before != nil { left.append(bucket) }
            if let after { entered.append((bucket, after)) }
        }
    }
}
