// JSON values as the engine's values. Dates and bytes are strings here; they are interpreted where the column is
// known.

package import SynclineCore
package import SynclineGround

extension JSONScanner {
    /// Reads the next whole value.
    package mutating func value(depth: Int = 0) throws(JSONError) -> Value {
        guard depth <= JSONScanner.depthLimit else { throw error(.tooDeep) }
        switch try peek() {
        case .null:
            try word("null")
            return .null
        case .bool:
            let isTrue = bytes[offset] == UInt8(ascii: "t")
            try isTrue ? word("true") : word("false")
            return .bool(isTrue)
        case .string:
            return .string(try string())
        case .number:
            return try numberValue()
        case .array:
            var elements: [Value] = []
            var more = try enter("[", "]")
            while more {
                elements.append(try value(depth: depth + 1))
                more = try hasNext("]")
            }
            return .array(elements)
        case .object:
            return .object(try members(depth: depth))
        }
    }

    /// Reads the members of the next object, in order. If two have the same name, the last value counts, at the
    /// position of the first.
    package mutating func members(depth: Int = 0) throws(JSONError) -> [Value.Member] {
        var members: [Value.Member] = []
        var places: [ExactString: Int] = [:]
        var more = try enter("{", "}")
        while more {
            skipSpaces()
            let start = offset
            let name = try string()
            try expect(":")
            let value = try value(depth: depth + 1)
            if let place = places.updateValue(members.count, forKey: ExactString(name)) {
                if refusesDuplicates { throw error(.wrongShape("two members are named \(name)"), at: start) }
                members[place].value = value
                places[name] = place
            } else {
                members.append(.init(name, value))
            }
            more = try hasNext("}")
        }
        return members
    }

    /// Returns the text of each member of an object, as it is spelled.
    package static func memberTexts(_ json: [UInt8]) throws(JSONError) -> [ExactString: String] {
        try json.withScanner { scanner throws(JSONError) in
            var texts: [ExactString: String] = [:]
            try scanner.forEachMember { scanner, name throws(JSONError) in
                scanner.skipSpaces()
                let start = scanner.offset
                _ = try scanner.value(depth: 1)
                texts[name] = String(decoding: scanner.bytes[start..<scanner.offset], as: UTF8.self)
            }
            return texts
        }
    }

    private mutating func numberValue() throws(JSONError) -> Value {
        let start = offset
        let (text, isInteger) = try number()
        guard let value = Value(number: text, isInteger: isInteger) else { throw error(.numberOutOfRange, at: start) }
        return value
    }
}

extension Value {
    /// Parses a whole JSON text.
    package init(json text: some Collection<UInt8>, refusesDuplicates: Bool = false) throws(JSONError) {
        self = try Array(text).withBytes { (bytes: UnsafeRawBufferPointer) throws(JSONError) in
            var scanner = JSONScanner(bytes)
            scanner.refusesDuplicates = refusesDuplicates
            let value = try scanner.value()
            try scanner.finish()
            return value
        }
    }
}
