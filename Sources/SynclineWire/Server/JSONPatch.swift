// JSON Patch (RFC 6902): parses a list of operations, and applies it completely or not at all.

package import SynclineCore
import SynclineGround

/// Why a list is not a valid patch, or can't be applied.
package struct JSONPatchError: Error, Hashable, Sendable {
    package var message: String
    /// Whether the patch is valid, but the document is not what it expects.
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

    /// The maximum number of operations, of bytes copied and of steps: each copy could double the document.
    fileprivate static let (countLimit, copyLimit, stepLimit) = (1000, 1 << 20, 2_000_000)

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
            throw JSONPatchError(message: "it needs the string '\(name)'", isOfDocument: false)
        }
        func value() throws(JSONPatchError) -> Value {
            if let value = element[member: "value"] { return value }
            throw JSONPatchError(message: "it needs a value", isOfDocument: false)
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
            if path.names.count > from.names.count, path.names.starts(with: from.names, by: { $0.hasSameBytes(as: $1) })
            {
                throw JSONPatchError(message: "a value can't be moved into itself", isOfDocument: false)
            }
            return .move(from: from, to: path)
        default: throw JSONPatchError(message: "unknown operation '\(name.prefix(40))'", isOfDocument: false)
        }
    }

    /// Returns whether an operation may change a member of the document.
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
        var document = PatchedDocument(document)
        for (index, operation) in operations.enumerated() {
            do throws(JSONPatchError) {
                try document.apply(operation)
            } catch {
                throw JSONPatchError(message: "Operation \(index): \(error.message)", isOfDocument: true)
            }
        }
        return document.value
    }
}

/// A JSON Pointer (RFC 6901).
private struct JSONPointer: Hashable, Sendable {
    let names: [String]

    init(_ text: String) throws(JSONPatchError) {
        var names: [String] = []
        for name in text.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            names.append(try JSONPointer.unescaped(name))
        }
        guard text.isEmpty || text.hasPrefix("/") else {
            throw JSONPatchError(message: "'\(text.prefix(80))' is not a path", isOfDocument: false)
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
            default: throw JSONPatchError(message: "'\(name.prefix(80))' is not a name in a path", isOfDocument: false)
            }
            text += part.dropFirst()
        }
        return text
    }
}

extension JSONPatchError {
    fileprivate static func missing(_ message: String) -> JSONPatchError {
        JSONPatchError(message: message, isOfDocument: true)
    }
}

/// A document being patched. The work is counted and limited: names compared, elements moved, and parts of inserted
/// values.
private struct PatchedDocument {
    private(set) var value: Value
    private var steps = 0
    private var copied = 0

    init(_ value: Value) {
        self.value = value
    }

    mutating func apply(_ operation: JSONPatch.Operation) throws(JSONPatchError) {
        switch operation {
        case .add(let path, let new): try add(new, path)
        case .remove(let path): _ = try remove(path)
        case .replace(let path, let new):
            try measure(new, below: path)
            try change(path.names[...]) { value, _ in value = new }
        case .copy(let from, let path):
            let original = try at(from)
            copied += try measure(original, below: path)
            if copied > JSONPatch.copyLimit { throw .missing("the patch copies too much data") }
            try add(original, path)
        case .move(let from, let path): try add(try remove(from), path)
        case .test(let path, let wanted):
            guard try at(path).isSame(as: wanted) else { throw .missing("the tested value is different") }
        }
    }

    private mutating func step(_ count: Int) throws(JSONPatchError) {
        steps += count
        if steps > JSONPatch.stepLimit { throw .missing("the patch takes too many steps") }
    }

    /// Counts an inserted value: approximately how many bytes it has. Rejects nesting deeper than JSON may have.
    @discardableResult
    private mutating func measure(_ new: Value, below path: JSONPointer) throws(JSONPatchError) -> Int {
        var measure = Measure()
        measure.add(new, depth: path.names.count)
        try step(measure.parts)
        if measure.depth > JSONScanner.depthLimit { throw .missing("the result nests too deeply") }
        return measure.bytes
    }

    // MARK: Places

    private mutating func at(_ path: JSONPointer) throws(JSONPatchError) -> Value {
        var found = value
        for name in path.names { found = found[try place(name, in: found)] }
        return found
    }

    /// Returns the position of a name in its parent.
    private mutating func place(_ name: String, in parent: Value) throws(JSONPatchError) -> Int {
        switch parent {
        case .object(let members):
            try step(members.count)
            guard let place = members.lastIndex(where: { $0.name.hasSameBytes(as: name) }) else {
                throw .missing("there is no '\(name.prefix(80))'")
            }
            return place
        case .array(let elements):
            try step(1)
            return try Value.index(name, below: elements.count)
        default: throw .missing("nothing exists below '\(name.prefix(80))'")
        }
    }

    /// Changes an existing value.
    private mutating func change(
        _ path: ArraySlice<String>, _ body: (inout Value, inout PatchedDocument) throws(JSONPatchError) -> Void
    ) throws(JSONPatchError) {
        var whole = Value.null
        swap(&whole, &value)
        defer { value = whole }
        try change(path, in: &whole, body)
    }

    /// Takes each value out of its parent while it is changed, so that it has one owner and nothing is copied.
    private mutating func change(
        _ path: ArraySlice<String>, in parent: inout Value,
        _ body: (inout Value, inout PatchedDocument) throws(JSONPatchError) -> Void
    ) throws(JSONPatchError) {
        guard let name = path.first else { return try body(&parent, &self) }
        let place = try place(name, in: parent)
        switch parent {
        case .object(var members):
            parent = .null
            defer { parent = .object(members) }
            try change(path.dropFirst(), in: &members[place].value, body)
        case .array(var elements):
            parent = .null
            defer { parent = .array(elements) }
            try change(path.dropFirst(), in: &elements[place], body)
        default: break
        }
    }

    private mutating func add(_ new: Value, _ path: JSONPointer) throws(JSONPatchError) {
        try measure(new, below: path)
        guard let name = path.names.last else { return value = new }
        try change(path.names.dropLast()) { parent, work throws(JSONPatchError) in
            switch parent {
            case .object(var members):
                try work.step(members.count)
                parent = .null
                if let place = members.lastIndex(where: { $0.name.hasSameBytes(as: name) }) {
                    members[place].value = new
                } else {
                    members.append(Value.Member(name, new))
                }
                parent = .object(members)
            case .array(var elements):
                // A dash means the position after the last element.
                let place = name == "-" ? elements.count : try Value.index(name, below: elements.count + 1)
                try work.step(elements.count - place)
                parent = .null
                elements.insert(new, at: place)
                parent = .array(elements)
            default: throw .missing("nothing exists to add '\(name.prefix(80))' to")
            }
        }
    }

    private mutating func remove(_ path: JSONPointer) throws(JSONPatchError) -> Value {
        guard let name = path.names.last else { throw .missing("the whole item can't be removed") }
        var removed = Value.null
        try change(path.names.dropLast()) { parent, work throws(JSONPatchError) in
            let place = try work.place(name, in: parent)
            switch parent {
            case .object(var members):
                parent = .null
                removed = members.remove(at: place).value
                parent = .object(members)
            case .array(var elements):
                try work.step(elements.count - place)
                parent = .null
                removed = elements.remove(at: place)
                parent = .array(elements)
            default: break
            }
        }
        return removed
    }
}

/// Measures the size of a value.
private struct Measure {
    var bytes = 0
    var parts = 0
    var depth = 0

    mutating func add(_ value: Value, depth: Int) {
        parts += 1
        bytes += 8
        self.depth = max(self.depth, depth)
        switch value {
        case .string(let text): bytes += text.utf8.count
        case .array(let elements): for element in elements { add(element, depth: depth + 1) }
        case .object(let members):
            for member in members {
                bytes += member.name.utf8.count
                add(member.value, depth: depth + 1)
            }
        default: break
        }
    }
}

extension Value {
    fileprivate subscript(place: Int) -> Value {
        switch self {
        case .object(let members): members[place].value
        case .array(let elements): elements[place]
        default: .null
        }
    }

    /// Accepts no sign and no leading zeros.
    fileprivate static func index(_ name: String, below count: Int) throws(JSONPatchError) -> Int {
        guard let index = Int(name), index >= 0, String(index) == name, index < count else {
            throw .missing("a list has no '\(name.prefix(80))'")
        }
        return index
    }

    /// Returns whether two values are the same JSON: numbers by value, members in any order.
    fileprivate func isSame(as other: Value) -> Bool {
        switch (unspelled, other.unspelled) {
        case (.integer(let a), .double(let b)), (.double(let b), .integer(let a)):
            return Int64(exactly: b) == a
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
        case (.object(let a), .object(let b)):
            // The tested value is at most as large as the patch; the one it is compared with may be larger.
            guard a.count == b.count else { return false }
            let others = Dictionary(b.map { (ExactString($0.name), $0.value) }) { $1 }
            return a.allSatisfy { others[$0.name]?.isSame(as: $0.value) ?? false }
        case (let a, let b): return a == b
        }
    }
}
