// Reads the rules about rows in a table's part of the configuration. A setting with spaces is a rule, one word is a
// permission.

import SynclineCore
import SynclineTables
import SynclineWire

extension RowRule {
    init(_ text: String, _ place: String) throws(StartFailure) {
        do throws(RuleError) {
            self = try RowRule(text)
        } catch {
            throw StartFailure("\(place) is not a rule: \(error)")
        }
    }
}

extension TableRules {
    /// Takes the setting of an operation, if it is a rule.
    mutating func take(_ text: String, _ operation: TableOperation, _ place: String) throws(StartFailure) -> Bool {
        guard text.contains(" ") else { return false }
        let rule = try RowRule(text, place)
        if let write = RuleOperation(rawValue: operation.rawValue) { writes[write] = rule } else { read = rule }
        return true
    }
}

extension RuleExample {
    /// Reads `{"rows":{TABLE:[ROW]},"sees":{CALLER:{TABLE:[ID]}},"updates":{…},"deletes":{…}}`.
    init(_ name: String, _ value: Value) throws(StartFailure) {
        self.init()
        let object = try ConfigurationObject(
            value, path: "examples.\(name)", known: ["rows", "sees", "updates", "deletes"])
        for table in try RuleExample.members(object["rows"], object.place("rows")) {
            let place = "\(object.place("rows")).\(table.name)"
            guard case .array(let rows) = table.value else { throw StartFailure("\(place) must be a list") }
            for row in rows {
                guard case .object(let members) = row, let id = members[member: "id"]?.text else {
                    throw StartFailure("each row of \(place) must be an object with an id")
                }
                let epoch = Timestamp.Instant(milliseconds: 0)
                let columns = Row(members.filter { $0.name != "id" })
                self.rows.append(
                    (table.name, TableRow(id: id, columns: columns, createdAt: epoch, updatedAt: epoch, version: "")))
            }
        }
        sees = try RuleExample.expectation(object, "sees")
        updates = try RuleExample.expectation(object, "updates")
        deletes = try RuleExample.expectation(object, "deletes")
    }

    private static func members(_ value: Value?, _ place: String) throws(StartFailure) -> [Value.Member] {
        guard let value else { return [] }
        guard case .object(let members) = value else { throw StartFailure("\(place) must be an object") }
        return members
    }

    private static func expectation(
        _ object: ConfigurationObject, _ name: String
    ) throws(StartFailure) -> Expectation {
        var expectation: Expectation = [:]
        for caller in try members(object[name], object.place(name)) {
            let place = "\(object.place(name)).\(caller.name)"
            for table in try members(caller.value, place) {
                guard case .array(let ids) = table.value, ids.allSatisfy({ $0.text != nil }) else {
                    throw StartFailure("\(place).\(table.name) must be a list of ids")
                }
                expectation[caller.name, default: [:]][table.name] = Set(ids.compactMap(\.text))
            }
        }
        return expectation
    }
}

extension Value {
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
