// The columns of a row, in the order they were given. Rows of a table mostly share a few shapes, so a row stores
// only its values and refers to its shape for the names.

package import SynclineGround

/// The names of a row's columns.
public final class RowShape: Hashable, Sendable {
    /// The names, without duplicates.
    public let names: [String]
    /// Their positions; nil for a few names, which are compared one after another in less time.
    private let places: [ExactString: Int]?
    /// The position of the server's version, which is needed for every row.
    let versionPlace: Int?
    /// The names as encoded in the log and the state.
    package let encodedNames: [UInt8]

    /// Creates the shape of rows with these columns, which must be distinct.
    public init(_ names: [String]) {
        self.names = names
        var writer = ByteWriter()
        for name in names { writer.append(text: name) }
        encodedNames = writer.bytes
        places = names.count > 8 ? Dictionary(zip(names.map(ExactString.init), names.indices)) { $1 } : nil
        versionPlace = names.firstIndex(of: "version")
    }

    /// The shape of a row without columns.
    public static let empty = RowShape([])

    package convenience init(encodedNames: UnsafeRawBufferPointer) throws(MalformedBytes) {
        var reader = ByteReader(encodedNames)
        var names: [String] = []
        while !reader.isAtEnd { names.append(try reader.text()) }
        guard names.exact.count == names.count else { throw MalformedBytes() }
        self.init(names)
    }

    /// Returns the position of a column, or nil if the row does not have it.
    public func place(of name: String) -> Int? {
        guard let places else { return names.firstIndex { $0.hasSameBytes(as: name) } }
        return places[ExactString(name)]
    }

    public static func == (left: RowShape, right: RowShape) -> Bool {
        left === right || left.encodedNames == right.encodedNames
    }

    public func hash(into hasher: inout Hasher) {
        encodedNames.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
