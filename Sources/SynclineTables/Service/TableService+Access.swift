// What a caller may do to a table, or to one of its rows. No answer tells a hidden row from one that never existed.

import SynclineCore
import SynclineWire

extension TableService {
    func access(_ request: HTTPRequest, _ caller: Caller?) throws(StoreFailure) -> HTTPResponse {
        func parameter(_ name: String) -> String? { request.query.first { $0.isNamed(name) }?.value }
        let table = try table(parameter("table") ?? "")
        var permitted = table.access(of: caller)
        if let id = parameter("id") {
            permitted[.insert] = nil
            let operations = permitted.filter { $0.value == .byRow }.map(\.key)
            let found = operations.isEmpty ? [] : try self.permitted(operations, on: id, table, caller)
            for operation in operations { permitted[operation] = found.contains(operation) ? .always : .never }
        }
        var members = TableOperation.allCases.compactMap { operation in
            permitted[operation].map { Value.Member(operation.rawValue, $0.value) }
        }
        // The columns' names are no business of callers who may do nothing.
        let hidden = permitted.values.contains { $0 != .never } ? table.hidden(from: caller).columns : []
        if !hidden.isEmpty { members.append(Value.Member("hidden", .array(hidden.map { .string($0) }))) }
        return TableAnswer.json(200, Array(Value.object(members).json.utf8))
    }

    /// Which of the operations a caller may perform on a row as it is.
    private func permitted(
        _ operations: [TableOperation], on id: String, _ table: TableDefinition, _ caller: Caller?
    ) throws(StoreFailure) -> Set<TableOperation> {
        guard let found = try store.permitted(table.name, id: id, to: caller) else { return [] }
        return Set(operations.filter { operation in RuleOperation(operation).map(found.contains) ?? true })
    }
}

/// Whether a caller may perform an operation.
private enum Access {
    case always, never
    /// It depends on the row.
    case byRow

    var value: Value {
        switch self {
        case .always: .bool(true)
        case .never: .bool(false)
        case .byRow: "rows"
        }
    }
}

extension TableDefinition {
    fileprivate func access(of caller: Caller?) -> [TableOperation: Access] {
        var all: [TableOperation: Access] = [:]
        for operation in TableOperation.allCases {
            let rule = RuleOperation(operation).map { rules.rule($0) } ?? rules.read
            let isByRow = rule != nil || operation != .insert && (rules.read != nil || perUser != nil)
            all[operation] = !permits(operation, caller) ? .never : isByRow ? .byRow : .always
        }
        return all
    }
}

extension RuleOperation {
    /// Nil for a read.
    fileprivate init?(_ operation: TableOperation) { self.init(rawValue: operation.rawValue) }
}
