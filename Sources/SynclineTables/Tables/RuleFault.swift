// The reason why tables can't have their rules: every name in a rule must be a declared column, and no caller may write to
// a table that decides about rights without a rule.

import SynclineCore
import SynclineGround

package struct RuleFault: Hashable, Sendable, CustomStringConvertible {
    /// The table and its setting.
    package var place: String
    package var message: String
    package var mend: String

    package var description: String { "\(place): \(message)" }

    package static func first(in tables: [TableDefinition]) -> RuleFault? {
        let all = Dictionary(tables.map { (ExactString($0.name), $0) }) { first, _ in first }
        for table in tables where !table.rules.isEmpty {
            if let fault = table.faultOfKind { return fault }
            for (setting, rule) in table.rules.all {
                let place = "\(table.name).\(setting)"
                if setting == "read", rule.alternatives.contains(where: { $0.role != nil }) {
                    return RuleFault(
                        place: place,
                        message: "a role can't decide which rows are seen: no client is told that it was lost",
                        mend: "use a table of members, or one role for the whole table")
                }
                let own = rule.alternatives.map { ([$0.bucket.column].compactMap(\.self), $0.bucket.conditions) }
                for (columns, conditions) in own {
                    if let fault = table.fault(columns, conditions, place) { return fault }
                }
                for step in rule.edges {
                    guard let other = all[ExactString(step.table)] else {
                        return RuleFault(
                            place: place, message: "there is no table \(step.table)", mend: "configure it")
                    }
                    if let fault = other.fault([step.from, step.to], step.conditions, place) { return fault }
                    if let fault = other.faultOfWriters(place) ?? other.faultOfGifts(step) { return fault }
                }
            }
        }
        return nil
    }
}

extension TableDefinition {
    /// Rules need tombstones, and rows of the server's own tables.
    fileprivate var faultOfKind: RuleFault? {
        func fault(_ message: String, _ mend: String) -> RuleFault {
            RuleFault(place: name, message: message, mend: mend)
        }
        if perUser != nil {
            return fault("a table with rules can't have perUser", "write the rule COLUMN eq auth.sub")
        }
        if rules.read != nil, !softDelete {
            return fault("a table with a rule to read must keep its tombstones", "leave out softDelete")
        }
        if !map.isEmpty || !source.hasSameBytes(as: name) {
            return fault("a table of another program can't have rules", "leave out source and map")
        }
        return nil
    }

    fileprivate func fault(_ columns: [String], _ conditions: [RuleCondition], _ place: String) -> RuleFault? {
        for name in columns where !name.hasSameBytes(as: "id") {
            if let fault = fault(name, [.string, .uuid], place) { return fault }
        }
        for condition in conditions where !condition.column.hasSameBytes(as: "id") {
            let isFlag = if case .bool = condition.value { true } else { false }
            if let fault = fault(condition.column, isFlag ? [.boolean] : [.string, .uuid], place) { return fault }
        }
        return nil
    }

    private func fault(_ column: String, _ types: [ColumnType], _ place: String) -> RuleFault? {
        let names = types.map(\.rawValue).joined(separator: " or ")
        guard let found = columns.first(where: { $0.name.hasSameBytes(as: column) }) else {
            return RuleFault(
                place: place, message: "column \(column) of table \(name) is not declared",
                mend: "declare it in columns as \(names)")
        }
        if types.contains(found.type) { return nil }
        return RuleFault(
            place: place, message: "column \(column) of table \(name) is \(found.type.rawValue)",
            mend: "declare it as \(names)")
    }

    /// A caller who may name himself in a row that leads elsewhere could give himself rights.
    fileprivate func faultOfGifts(_ step: RuleEdge) -> RuleFault? {
        if step.to.hasSameBytes(as: "id") { return nil }
        for operation in [RuleOperation.insert, .update] {
            let alternatives = rules.rule(operation)?.alternatives ?? []
            guard alternatives.contains(where: { $0.role == nil && $0.path.isEmpty && $0.bucket.column != step.to })
            else { continue }
            return RuleFault(
                place: "\(name).\(operation.rawValue)",
                message: "a caller could name himself in a row that leads to another's \(step.to)",
                mend: "let those who own the \(step.to) write the rows")
        }
        return nil
    }

    /// Everybody who may write to this table could give himself rights. A rule to read is not meant as one to write here.
    fileprivate func faultOfWriters(_ place: String) -> RuleFault? {
        for operation in RuleOperation.allCases where rules.write == nil && rules.writes[operation] == nil {
            switch permission(TableOperation(rawValue: operation.rawValue) ?? .update) {
            case .role, .disabled: continue
            case .anonymous, .authenticated:
                return RuleFault(
                    place: place,
                    message: "every caller may \(operation.rawValue) rows of table \(name), which decide about rights",
                    mend: "give it a rule to write")
            }
        }
        return nil
    }
}
