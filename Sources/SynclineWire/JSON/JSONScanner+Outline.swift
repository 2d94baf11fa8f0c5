// Steps over JSON that can't be read as a value: it nests too deep, or has a number or a string that no value can
// hold. Only the structure must be right. It is walked without recursion, so its depth does not matter.

import SynclineCore

/// The known facts about a row whose content can't be read.
struct RowOutline: Hashable {
    var id: String?
    /// The millisecond of its last change.
    var moment: Int64?
    var isDeleted = false
}

extension JSONScanner {
    /// Steps over the next value and returns what it says about itself, if it is a row.
    mutating func outline() throws(JSONError) -> RowOutline {
        var outline = RowOutline()
        guard try peek() == .object else {
            try skipStructure()
            return outline
        }
        var more = try enter("{", "}")
        while more {
            skipSpaces()
            let name = try looseString()
            try expect(":")
            skipSpaces()
            let start = offset
            // Anything else in their place can't be read, but does no harm.
            var value: Value?
            if let name, RowOutline.names.contains(name) { value = try? self.value() }
            switch (name, value) {
            case ("id", .string(let id)?): outline.id = id.isEmpty ? nil : id
            case ("updatedAt", .string(let text)?): outline.moment = Timestamp(text)?.instant.milliseconds
            case ("deleted", .bool(let flag)?): outline.isDeleted = flag
            default: break
            }
            offset = start
            try skipStructure()
            more = try hasNext("}")
        }
        return outline
    }

    /// Steps over the next value of any depth.
    private mutating func skipStructure() throws(JSONError) {
        // Whether each open container is an object.
        var open: [Bool] = []
        while true {
            let token = try peek()
            switch token {
            case .object, .array:
                let isObject = token == .object
                if try isObject ? enter("{", "}") : enter("[", "]") {
                    open.append(isObject)
                    if isObject { try skipName() }
                    continue
                }
            case .string: _ = try looseString()
            case .number: _ = try number()
            case .bool: try word(bytes[offset] == UInt8(ascii: "t") ? "true" : "false")
            case .null: try word("null")
            }
            // A value has ended, and with it perhaps the containers that it is the last one in.
            while let isObject = open.last, try !hasNext(isObject ? "}" : "]") { open.removeLast() }
            guard let isObject = open.last else { return }
            if isObject { try skipName() }
        }
    }

    private mutating func skipName() throws(JSONError) {
        skipSpaces()
        _ = try looseString()
        try expect(":")
    }

    /// Steps over a string with any content, and returns it if it can be read.
    private mutating func looseString() throws(JSONError) -> String? {
        let start = offset
        try expect("\"")
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                let end = offset + 1
                offset = start
                let text = try? string()
                offset = end
                return text
            case UInt8(ascii: "\\"): offset += 2
            default: offset += 1
            }
        }
        throw error(.endsEarly)
    }
}

extension RowOutline {
    fileprivate static let names: Set<String> = ["id", "updatedAt", "deleted"]
}
