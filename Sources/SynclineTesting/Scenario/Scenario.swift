// A scenario: a scripted test as JSON. The format is that of the conformance files: an array of objects with a name,
// a protocol and steps, each step an object with one member.

package import SynclineCore
import SynclineWire

/// A scripted test of a store.
public struct Scenario: Sendable {
    /// One step: an action or a check, and its arguments.
    package struct Step: Sendable {
        package var kind: String
        package var value: Value

        package init(_ step: Value) throws {
            guard case .object(let members) = step, members.count == 1 else {
                throw ScenarioFailure("a step is an object with one member")
            }
            kind = members[0].name
            value = members[0].value
        }
    }

    /// The scenario's name.
    public var name: String
    package var serverProtocol: ServerProtocol
    package var ignoresCase: Bool
    package var steps: [Step]

    /// Parses the scenarios of a file.
    public static func parse(_ json: [UInt8]) throws -> [Scenario] {
        guard case .array(let elements) = try Value(json: json) else {
            throw ScenarioFailure("a file of scenarios is an array")
        }
        return try elements.map { try Scenario($0) }
    }

    private init(_ value: Value) throws {
        guard case .string(let name)? = value[member: "name"], case .array(let steps)? = value[member: "steps"] else {
            throw ScenarioFailure("a scenario has a name and steps")
        }
        self.name = name
        do throws(SyncError) {
            serverProtocol = try ServerProtocol(setting: value[member: "protocol"])
        } catch {
            throw ScenarioFailure(error.message)
        }
        ignoresCase = value[member: "ids"] == .string("ignore-case")
        self.steps = try steps.map { try Step($0) }
    }
}

/// The difference between what a scenario expected and what it found.
public struct ScenarioFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String

    package init(_ description: String) {
        self.description = description
    }
}

extension Value {
    package var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    package var elements: [Value] {
        if case .array(let elements) = self { return elements }
        return []
    }

    /// Returns whether a value is what a scenario expects: dates are compared as instants, numbers as numbers, and
    /// null means absent.
    package func isExpected(by expected: Value) -> Bool {
        switch (self, expected) {
        case (.string(let left), .string(let right)):
            if left == right { return true }
            guard let one = Timestamp(left), let other = Timestamp(right) else { return false }
            return one.instant == other.instant
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.isExpected(by: $1) }
        case (.object(let left), .object(let right)):
            return Set(left.map(\.name)).union(right.map(\.name)).allSatisfy { name in
                (self[member: name] ?? .null).isExpected(by: expected[member: name] ?? .null)
            }
        default: return means(expected)
        }
    }

    /// Returns whether each member that a scenario names has the expected value.
    package func hasFields(of expected: Value) -> Bool {
        guard case .object(let members) = expected else { return isExpected(by: expected) }
        return members.allSatisfy { expected in
            let found = self[member: expected.name] ?? .null
            // For the rows of a conflict, too, only the named fields are compared.
            let isRow = ["base", "mine", "server"].contains(expected.name) && !found.isNull
            return isRow ? found.hasFields(of: expected.value) : found.isExpected(by: expected.value)
        }
    }

    /// Returns whether these are the expected elements, in the given order or in any.
    package static func match(_ found: [Value], _ expected: [Value], inOrder: Bool) -> Bool {
        guard found.count == expected.count else { return false }
        if inOrder { return zip(found, expected).allSatisfy { $0.hasFields(of: $1) } }
        // Expected elements may name few fields: each is matched with an element of its own.
        var owner = [Int?](repeating: nil, count: found.count)
        func place(_ index: Int, _ seen: inout Set<Int>) -> Bool {
            for candidate in found.indices where found[candidate].hasFields(of: expected[index]) {
                guard seen.insert(candidate).inserted else { continue }
                if let other = owner[candidate], !place(other, &seen) { continue }
                owner[candidate] = index
                return true
            }
            return false
        }
        return expected.indices.allSatisfy { index in
            var seen: Set<Int> = []
            return place(index, &seen)
        }
    }
}
