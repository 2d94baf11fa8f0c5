// Changes to a JSON document as a list of operations (RFC 6902): read, and applied wholly or not at all.

package import SynclineCore

/// Why a list is no patch, or can't be applied.
package struct JSONPatchError: Error, Hashable, Sendable {
    package var message: String
    /// Whether the patch is sound, and the document is another than it expects.
    package var isOfDocument: Bool
}

package struct JSONPatch: Hashable, Sendable {
    fileprivate enum Operation: Hashable, Sendable {
        case add(JSONPointer, Value)
        case remove(JSONPointer)
        case replace(JSONPointer, Value)
        case move(from: JSONPointer, to: JSONPointer)
        case copy(from: JSONPointer, to: JSONPointer)
        case test(JSONPointer, Value)
    }

    private var operations: [Operation] = []

    /// A patch has no more operations, and copies no more bytes: each could double the document.
    private static let (countLimit, copyLimit) = (1000, 1 << 20)

    package init(_ list: Value) throws(JSONPatchError) {
        guard case .array(let elements) = list, elements.count <= JSONPatch.countLimit else {
            throw JSONPatchError(
                message: "A patch is a list of at most \(JSONPatch.countLimit) operations", isOfDocument: false)
        }
        for (index, element) in elements.enumerated() {
            do throws(JSONPatchError) {
                operations.append(try JSONPatch.operation(element))
            } catch {
                throw JSONPatchError(message: "Operation \(index): \(error.message)", isOfDocument: false)
            }
        }
    }

    private static func operation(_ element: Value) throws(JSONPatchError) -> Operation {
        func text(_ name: String) throws(JSONPatchError) -> String {
            if case .string(let text)? = element[member: name] { return text }
            throw JSONPatchError(message: "it lacks the text '\(name)'", isOfDocument: false)
        }
        func value() throws(JSONPatchError) -> Value {
            if let value = element[member: "value"] { return value }
            throw JSONPatchError(message: "it lacks a value", isOfDocument: false)
        }
        let path = try JSONPointer(try text("path"))
        let name = try text("op")
        switch name {
        case "add": return .add(path, try value())
        case "remove": return .remove(path)
        case "replace": return .replace(path, try value())
        case "test": return .test(path, try value())
        case "copy": return .copy(from: try JSONPointer(try text("from")), to: path)
        case "move":
            let from = try JSONPointer(try text("from"))
            if path.names.count > from.names.count, path.names.starts(with: from.names) {
                throw JSONPatchError(message: "nothing moves into itself", isOfDocument: false)
            }
            return .move(from: from, to: path)
        default: throw JSONPatchError(message: "there is no operation '\(name.prefix(40))'", isOfDocument: false)
        }
    }

    /// Whether an operation may change a member of the document.
    package func mayChange(member name: String) -> Bool {
        operations.contains { operation in
            switch operation {
            case .add(let path, _), .remove(let path), .replace(let path, _), .copy(_, let path):
                path.names.first ?? name == name
            case .move(let from, let path): [from, path].contains { $0.names.first ?? name == name }
            case .test: false
            }
        }
    }

    package func applied(to document: Value) throws(JSONPatchError) -> Value {
        var document = document
        var copied = 0
        for (index, operation) in operations.enumerated() {
            do throws(JSONPatchError) {
                if case .copy(let from, _) = operation {
                    copied += try document.at(from.names[...]).size
                    if copied > JSONPatch.copyLimit { throw .missing("too much is copied") }
                }
                try operation.apply(to: &document)
            } catch {
                throw JSONPatchError(message: "Operation \(index): \(error.message)", isOfDocument: true)
            }
        }
        return document
    }
}

/// A place in a document (RFC 6901).
private struct JSONPointer: Hashable, Sendable {
    let names: [String]

    init(_ text: String) throws(JSONPatchError) {
        var names: [String] = []
        for name in text.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            names.append(try JSONPointer.unescaped(name))
        }
        guard text.isEmpty || text.hasPrefix("/") else {
            throw JSONPatchError(message: "'\(text.prefix(80))' is no path", isOfDocument: false)
        }
        self.names = names
    }

    private static func unescaped(_ name: Substring) throws(JSONPatchError) -> String {
        let parts = name.split(separator: "~", omittingEmptySubsequences: false)
        var text = String(parts[0])
        for part in parts.dropFirst() {
            switch part.first {
            case "0": text += "~"
            case "1": text += "/"
            default: throw JSONPatchError(message: "'\(name.prefix(80))' is no name in a path", isOfDocument: false)
            }
            text += part.dropFirst()
        }
        return text
    }
}

extension JSONPatch.Operation {
    fileprivate func apply(to document: inout Value) throws(JSONPatchError) {
        switch self {
        case .add(let path, let value): try document.add(value, path.names[...])
        case .remove(let path): _ = try document.remove(path.names[...])
        case .replace(let path, let value):
            _ = try document.at(path.names[...])
            try document.change(path.names[...]) { $0 = value }
        case .copy(let from, let path): try document.add(try document.at(from.names[...]), path.names[...])
        case .move(let from, let path):
            let value = try document.remove(from.names[...])
            try document.add(value, path.names[...])
        case .test(let path, let value):
            guard try document.at(path.names[...]).isSame(as: value) else {
                throw .missing("the value tested is another")
            }
        }
    }
}

extension JSONPatchError {
    fileprivate static func missing(_ message: String) -> JSONPatchError {
        JSONPatchError(message: message, isOfDocument: true)
    }
}

extension Value {
    fileprivate func at(_ path: ArraySlice<String>) throws(JSONPatchError) -> Value {
        guard let name = path.first else { return self }
        switch self {
        case .object(let members):
            guard let member = members.last(where: { $0.name == name }) else {
                throw .missing("there is no '\(name.prefix(80))'")
            }
            return try member.value.at(path.dropFirst())
        case .array(let elements):
            return try elements[try Value.index(name, below: elements.count)].at(path.dropFirst())
        default: throw .missing("there is nothing below '\(name.prefix(80))'")
        }
    }

    /// Changes what is at a place that is there.
    fileprivate mutating func change(
        _ path: ArraySlice<String>, _ body: (inout Value) throws(JSONPatchError) -> Void
    ) throws(JSONPatchError) {
        guard let name = path.first else { return try body(&self) }
        switch self {
        case .object(var members):
            guard let place = members.lastIndex(where: { $0.name == name }) else {
                throw .missing("there is no '\(name.prefix(80))'")
            }
            try members[place].value.change(path.dropFirst(), body)
            self = .object(members)
        case .array(var elements):
            try elements[try Value.index(name, below: elements.count)].change(path.dropFirst(), body)
            self = .array(elements)
        default: throw .missing("there is nothing below '\(name.prefix(80))'")
        }
    }

    fileprivate mutating func add(_ value: Value, _ path: ArraySlice<String>) throws(JSONPatchError) {
        guard let name = path.last else {
            self = value
            return
        }
        try change(path.dropLast()) { parent throws(JSONPatchError) in
            switch parent {
            case .object(var members):
                if let place = members.lastIndex(where: { $0.name == name }) {
                    members[place].value = value
                } else {
                    members.append(Member(name, value))
                }
                parent = .object(members)
            case .array(var elements):
                // A place of its own behind the last is named by a dash.
                let place = name == "-" ? elements.count : try Value.index(name, below: elements.count + 1)
                elements.insert(value, at: place)
                parent = .array(elements)
            default: throw .missing("there is nothing '\(name.prefix(80))' could be added to")
            }
        }
    }

    fileprivate mutating func remove(_ path: ArraySlice<String>) throws(JSONPatchError) -> Value {
        let removed = try at(path)
        guard let name = path.last else { throw .missing("the whole can't be removed") }
        try change(path.dropLast()) { parent throws(JSONPatchError) in
            switch parent {
            case .object(let members): parent = .object(members.filter { $0.name != name })
            case .array(var elements):
                elements.remove(at: try Value.index(name, below: elements.count))
                parent = .array(elements)
            default: break
            }
        }
        return removed
    }

    /// Without a sign and without zeros before it.
    private static func index(_ name: String, below count: Int) throws(JSONPatchError) -> Int {
        guard let index = Int(name), index >= 0, String(index) == name, index < count else {
            throw .missing("a list has no '\(name.prefix(80))'")
        }
        return index
    }

    /// About how many bytes it has.
    fileprivate var size: Int {
        switch self {
        case .string(let text): text.utf8.count + 8
        case .array(let elements): elements.reduce(8) { $0 + $1.size }
        case .object(let members): members.reduce(8) { $0 + $1.name.utf8.count + $1.value.size }
        default: 8
        }
    }

    /// Whether two are the same JSON: numbers by what they are worth, members in any order.
    fileprivate func isSame(as other: Value) -> Bool {
        switch (self, other) {
        case (.integer(let a), .double(let b)), (.double(let b), .integer(let a)):
            return Int64(exactly: b) == a
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
        case (.object(let a), .object(let b)):
            let others = Dictionary(b.map { ($0.name, $0.value) }) { $1 }
            return a.count == b.count && a.allSatisfy { others[$0.name]?.isSame(as: $0.value) ?? false }
        default: return self == other
        }
    }
}
