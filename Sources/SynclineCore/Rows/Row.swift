// A row's columns and their encoded values. The id is kept separately.

import SynclineGround

/// Columns and their values.
public struct Row: Sendable {
    /// The names of its columns.
    public let shape: RowShape
    /// The values in the shape's order.
    package let bytes: [UInt8]

    package init(shape: RowShape, bytes: [UInt8]) {
        self.shape = shape
        self.bytes = bytes
    }

    /// A row without columns.
    public static let empty = Row(shape: .empty, bytes: [])

    /// Creates a row from members. If two have the same name, the last one counts.
    public init(_ members: some Sequence<Value.Member>) {
        var builder = RowBuilder()
        for member in members { builder.set(member.name, member.value) }
        self = builder.row
    }

    /// Creates a row from values in a shape's order.
    public init(_ shape: RowShape, _ values: [Value]) {
        precondition(values.count == shape.names.count, "a row has a value for each column")
        var writer = ByteWriter(capacity: values.count * 12)
        for value in values { writer.append(value: value) }
        self.init(shape: shape, bytes: writer.bytes)
    }

    /// Whether the row has no columns.
    public var isEmpty: Bool { shape.names.isEmpty }
    /// The names of its columns, in order.
    public var columns: [String] { shape.names }

    /// The value of a column, or nil if the row does not have it.
    public subscript(name: String) -> Value? {
        get { shape.place(of: name).map { place in withView { $0.value(at: place) } } }
        set {
            if let newValue {
                self = merged(with: Row([.init(name, newValue)]))
            } else if shape.place(of: name) != nil {
                self = filter { !$0.name.hasSameBytes(as: name) }
            }
        }
    }

    /// The value of the column `version`.
    package var versionValue: Value? {
        shape.versionPlace.map { place in withView { $0.value(at: place) } }
    }

    /// Whether both describe the same state of the row: the same version or, without versions, the same content.
    package func isSameState(as other: Row) -> Bool {
        if let version = versionValue, !version.isNull { return version == other.versionValue }
        return self == other
    }

    /// All columns with their values.
    public var members: [Value.Member] {
        withView { view in
            var reader = ByteReader(view.bytes)
            return shape.names.map { Value.Member($0, (try? reader.value()) ?? .null) }
        }
    }

    /// Calls `body` with a view of the encoded values.
    package func withView<Result, Failure: Error>(
        _ body: (RowView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(shape) }
        return try bytes.withBytes { bytes throws(Failure) in try body(RowView(shape: shape, bytes: bytes)) }
    }

    /// Returns this row with the columns of another one set: its own keep their positions, new ones follow them.
    package func merged(with other: Row) -> Row {
        if other.isEmpty { return self }
        if isEmpty { return other }
        var changed = [Int?](repeating: nil, count: shape.names.count)
        var added: [Int] = []
        for (index, name) in other.shape.names.enumerated() {
            if let place = shape.place(of: name) { changed[place] = index } else { added.append(index) }
        }
        let bytes = withView { mine in
            other.withView { theirs in
                let (before, after) = (mine.extents, theirs.extents)
                var writer = ByteWriter(capacity: mine.bytes.count + theirs.bytes.count)
                for (place, extent) in before.enumerated() {
                    writer.append(changed[place].map { theirs.slice(after[$0]) } ?? mine.slice(extent))
                }
                for index in added { writer.append(theirs.slice(after[index])) }
                return writer.bytes
            }
        }
        if added.isEmpty { return Row(shape: shape, bytes: bytes) }
        return Row(shape: RowShape(shape.names + added.map { other.shape.names[$0] }), bytes: bytes)
    }

    /// Returns the columns that pass a test.
    package func filter(_ isKept: (Value.Member) -> Bool) -> Row {
        let members = members
        let kept = members.filter(isKept)
        return kept.count == members.count ? self : Row(kept)
    }
}

extension Row: Hashable {
    public static func == (left: Row, right: Row) -> Bool {
        left.shape == right.shape && left.bytes == right.bytes
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(shape)
        hasher.combine(bytes)
    }
}

extension Row: CustomStringConvertible {
    /// The columns as a JSON object.
    public var description: String { Value.object(members).debugDescription }
}

extension Row: FilterSubject {
    package func value(ofColumn name: String) -> Value { self[name] ?? .null }
}

/// Encoded values in memory owned by another object, which also owns their shape.
package struct RowView {
    let reference: Unmanaged<RowShape>
    private let stored: UnsafeRawBufferPointer
    /// The row of a block in columns that has the values; nil if they are in the bytes.
    private let columns: Unmanaged<ColumnRow>?

    package init(shape: RowShape, bytes: UnsafeRawBufferPointer) {
        self.init(.passUnretained(shape), bytes)
    }

    init(_ reference: Unmanaged<RowShape>, _ bytes: UnsafeRawBufferPointer) {
        self.reference = reference
        stored = bytes
        columns = nil
    }

    init(_ reference: Unmanaged<RowShape>, _ columns: Unmanaged<ColumnRow>) {
        self.reference = reference
        stored = UnsafeRawBufferPointer(start: nil, count: 0)
        self.columns = columns
    }

    /// All values.
    package var bytes: UnsafeRawBufferPointer { columns?.borrowed { (try? $0.values()) ?? stored } ?? stored }

    package var shape: RowShape { reference.takeUnretainedValue() }

    /// Returns the decoded value at a position of the shape.
    package func value(at place: Int) -> Value {
        if let columns {
            guard let value = columns.borrowed({ $0.value(place) }) else { return .null }
            var reader = ByteReader(value)
            return (try? reader.value()) ?? .null
        }
        var reader = ByteReader(stored)
        for _ in 0..<place {
            guard (try? reader.skipValue()) != nil else { return .null }
        }
        return (try? reader.value()) ?? .null
    }

    /// Returns the encoded value at a position of the shape, and what follows it.
    @inline(__always)
    func encoded(at place: Int) -> UnsafeRawBufferPointer? {
        if let columns { return columns.borrowed { $0.value(place) } }
        var reader = ByteReader(stored)
        for _ in 0..<place {
            guard reader.skipShortValue() || (try? reader.skipValue()) != nil else { return nil }
        }
        return reader.rest
    }

    /// The row, copied.
    package var row: Row {
        get throws(SyncError) {
            guard let columns else { return Row(shape: shape, bytes: [UInt8](stored)) }
            do throws(MalformedBytes) {
                let values = try columns.borrowed { row throws(MalformedBytes) in try row.values() }
                return Row(shape: shape, bytes: [UInt8](values))
            } catch {
                throw .malformed("a run's block")
            }
        }
    }

    /// The range of each value in the bytes. A value that can't be read has an empty range.
    fileprivate var extents: [Range<Int>] {
        var reader = ByteReader(bytes)
        return shape.names.map { _ in
            let start = reader.offset
            guard (try? reader.skipValue()) != nil else { return start..<start }
            return start..<reader.offset
        }
    }

    fileprivate func slice(_ extent: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[extent])
    }
}

/// Builds a row column by column.
package struct RowBuilder {
    private var names: [String] = []
    private var values: [Value] = []
    private var places: [ExactString: Int] = [:]

    package init() {}

    package init(_ row: Row) {
        for member in row.members { set(member.name, member.value) }
    }

    /// Sets a column; an existing one keeps its position.
    package mutating func set(_ name: String, _ value: Value) {
        if let place = places[ExactString(name)] {
            values[place] = value
        } else {
            places[ExactString(name)] = names.count
            names.append(name)
            values.append(value)
        }
    }

    package var row: Row { names.isEmpty ? .empty : Row(RowShape(names), values) }
}
