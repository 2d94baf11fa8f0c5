// The printed form of values: JSON, so that a log line or a debugger shows their content.

extension Value: CustomStringConvertible, CustomDebugStringConvertible {
    /// The value as JSON, but a string without quotes, a date in its original form, and bytes as their count.
    public var description: String {
        if case .string(let text) = self { return text }
        return debugDescription
    }

    /// The value as JSON.
    public var debugDescription: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .number(let number): number.spelling
        case .string(let text): text.debugDescription
        case .date(let date): "\"\(date)\""
        case .bytes(let bytes): "<\(bytes.count) bytes>"
        case .array(let elements): "[\(elements.map(\.debugDescription).joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\($0.name.debugDescription):\($0.value.debugDescription)" }.joined(separator: ","))}"
        }
    }
}
