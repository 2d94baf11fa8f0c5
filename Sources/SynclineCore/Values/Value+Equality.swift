// Values are equal if they are kept alike. Strings and the names of members are compared by their Unicode scalars, while
// Swift also calls two spellings of an accented letter equal.

import SynclineGround

extension Value: Hashable {
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.date(let left), .date(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let isTrue): hasher.combine(isTrue)
        case .integer(let number): hasher.combine(number)
        case .double(let number): hasher.combine(number)
        case .number(let number): hasher.combine(number)
        case .string(let text): hasher.combine(ExactString(text))
        case .date(let date): hasher.combine(date)
        case .bytes(let bytes): hasher.combine(bytes)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }
}

extension Value.Member: Hashable {
    public static func == (left: Value.Member, right: Value.Member) -> Bool {
        left.name.hasSameBytes(as: right.name) && left.value == right.value
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactString(name))
        hasher.combine(value)
    }
}
