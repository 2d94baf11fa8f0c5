// The steps that declare the types of columns, and that add up what they have.

import Syncline

extension ScenarioRunner {
    func declareColumns(_ value: Value) async throws {
        guard case .object(let members)? = value[member: "columns"] else {
            throw ScenarioFailure("the step names no columns")
        }
        var columns: [String: ColumnType] = [:]
        for member in members { columns[member.name] = try ColumnType(named: member.value.text ?? "") }
        try await database.declareColumns(table: table(value), columns)
    }

    func aggregate(_ value: Value) async throws {
        let names = value[member: "compute"]?.elements.compactMap(\.text) ?? []
        let groups = value[member: "group"]?.elements.compactMap(\.text) ?? []
        var aggregate = RowAggregate(
            table: try table(value), filter: try filter(value), groups: groups,
            functions: try names.map { try RowAggregate.Function(named: $0) })
        if let order = value[member: "orderby"]?.text { aggregate.order = try RowQuery.Key.list(parsing: order) }
        (aggregate.top, aggregate.skip) = (number(value, "top"), number(value, "skip") ?? 0)
        let found = try await database.rows(of: aggregate.table).compute(aggregate).map { group in
            Value.object(zip(groups + names, group.key + group.values).map { Value.Member($0, $1.plainNumber) })
        }
        let expected = value[member: "result"] ?? .null
        try expect(
            found, groups.isEmpty ? [expected.allPlainNumbers] : expected.elements.map(\.allPlainNumbers),
            inOrder: false)
    }
}

extension RowAggregate.Function {
    /// Reads `count`, `sum(amount)` and the like.
    fileprivate init(named name: String) throws {
        let parts = name.split { "()".contains($0) }.map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("count", nil): self = .count
        case ("sum", let column?): self = .sum(column)
        case ("average", let column?): self = .average(column)
        case ("min", let column?): self = .min(column)
        case ("max", let column?): self = .max(column)
        default: throw ScenarioFailure("there is no aggregate \(name)")
        }
    }
}

extension Value {
    /// A number as its digits, so that one that no double holds is compared with all of them.
    fileprivate var plainNumber: Value {
        switch self {
        case .integer, .double, .number: NumberDigits(number: self).map { .string("number " + $0.text) } ?? self
        default: self
        }
    }

    fileprivate var allPlainNumbers: Value {
        guard case .object(let members) = self else { return self }
        return .object(members.map { Member($0.name, $0.value.plainNumber) })
    }
}
