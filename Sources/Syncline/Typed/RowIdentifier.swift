// The types that a model's id can have. A row's id is a string; the others are written as one.

public import Foundation
import SynclineCore

/// A type of ids: `String`, `UUID`, or an integer whose digits are the row's id.
///
/// A type of your own with such a raw value conforms without further code:
/// `struct SiteID: RawRepresentable, RowIdentifier { var rawValue: UUID }`.
public protocol RowIdentifier: Codable, Hashable, Sendable {
    /// The ids that a row can have for this value. A new row gets the first one.
    static func rowIDs(for id: Self) -> [String]

    /// Creates the value from a row's id; nil if the id is not valid for this type.
    init?(rowID: String)
}

extension String: RowIdentifier {
    public static func rowIDs(for id: String) -> [String] { [id] }
    public init?(rowID: String) { self = rowID }
}

extension UUID: RowIdentifier {
    /// The UUID in upper case, as this engine makes ids, and in lower case, as some servers make them.
    public static func rowIDs(for id: UUID) -> [String] { [id.uuidString, id.uuidString.lowercased()] }
    public init?(rowID: String) { self.init(uuidString: rowID) }
}

extension Int: RowIdentifier {
    public static func rowIDs(for id: Int) -> [String] { [String(id)] }
    public init?(rowID: String) { self.init(rowID) }
}

extension Int64: RowIdentifier {
    public static func rowIDs(for id: Int64) -> [String] { [String(id)] }
    public init?(rowID: String) { self.init(rowID) }
}

extension RowIdentifier where Self: RawRepresentable, RawValue: RowIdentifier {
    public static func rowIDs(for id: Self) -> [String] { RawValue.rowIDs(for: id.rawValue) }

    public init?(rowID: String) {
        guard let value = RawValue(rowID: rowID) else { return nil }
        self.init(rawValue: value)
    }
}

extension RowIdentifier where Self: RawRepresentable, RawValue == UUID {
    /// Decodes the raw value, as the standard library does for strings and integers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let value = try container.decode(UUID.self)
        guard let id = Self(rawValue: value) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(Self.self) refuses the UUID")
        }
        self = id
    }

    /// Encodes the raw value, as the standard library does for strings and integers.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension RowIdentifier {
    /// The strings by which a column of another row may hold the id; nil if it is not a string there.
    var columnTexts: [String]? {
        guard case .string? = try? ValueEncoder.encode(self) else { return nil }
        return rowIDs
    }

    /// The id of a new row.
    var rowIDs: [String] { Self.rowIDs(for: self) }

    /// Whether a row with an id can have this one.
    func isFound(by rowID: String) -> Bool { (self as? String).map { $0 == rowID } ?? rowIDs.contains(rowID) }

    var newRowID: String { rowIDs.first ?? "" }

    /// Returns the id as a model encodes it, for a row's id.
    static func encoded(rowID: String) throws(SyncError) -> Value {
        if Self.self == String.self { return .string(rowID) }
        // A model must find its row again, so `007` is not an integer here, and a UUID has the case of one of its row ids.
        guard let id = Self(rowID: rowID), id.isFound(by: rowID) else {
            throw SyncError(
                .invalidItem, "id: the row's id is not one that \(Self.self) can have",
                hint: "Use `String` as the type of the model's id, or read the table without a model.")
        }
        return try ValueEncoder.encode(id)
    }
}
