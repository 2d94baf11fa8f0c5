// The strings that are ids of a table whose key is not a string.

/// The kind of a table's ids. A protocol's ids are strings: a key of another type has one string for each of its
/// values.
package enum IDKind: String, Hashable, Sendable {
    case text, uuid, integer

    /// Whether it is the string of a value that a key of this kind can have.
    package func canBe(_ id: String) -> Bool {
        switch self {
        case .text: return true
        case .integer: return Int64(id).map { String($0) == id } ?? false
        case .uuid:
            let groups = id.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            return groups.map(\.count) == [8, 4, 4, 4, 12]
                && groups.allSatisfy { $0.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x61 < 6 } }
        }
    }

    package var plural: String {
        switch self {
        case .text: "strings"
        case .uuid: "UUIDs in lower case, such as 0198b5a2-0000-7000-8000-000000000001"
        case .integer: "integers, such as 7"
        }
    }
}
