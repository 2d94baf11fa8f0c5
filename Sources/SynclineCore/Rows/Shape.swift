// The columns a row has, in the order it was given them. Rows of a table mostly share a few shapes, so a row keeps its
// values only and points to its shape for their names.

/// The names of a row's columns.
public final class Shape: Hashable, Sendable {
    /// The names, each once.
    public let names: [String]
    private let places: [String: Int]
    /// Where the server's version stands, which is asked of every row.
    let versionPlace: Int?
    /// The names as the log and the state keep them.
    package let encodedNames: [UInt8]

    /// The shape of rows with these columns, each named once.
    public init(_ names: [String]) {
        self.names = names
        var writer = ByteWriter()
        for name in names { writer.append(text: name) }
        encodedNames = writer.bytes
        var places: [String: Int] = [:]
        for (place, name) in names.enumerated() { places[name] = place }
        self.places = places
        versionPlace = places["version"]
    }

    /// A row without columns.
    public static let empty = Shape([])

    package convenience init(encodedNames: UnsafeRawBufferPointer) throws(MalformedBytes) {
        var reader = ByteReader(encodedNames)
        var names: [String] = []
        while !reader.isAtEnd { names.append(try reader.text()) }
        guard Set(names).count == names.count else { throw MalformedBytes() }
        self.init(names)
    }

    /// Where a column stands; nil if the row has none of that name.
    public func place(of name: String) -> Int? {
        places[name]
    }

    public static func == (left: Shape, right: Shape) -> Bool {
        left === right || left.encodedNames == right.encodedNames
    }

    public func hash(into hasher: inout Hasher) {
        encodedNames.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
