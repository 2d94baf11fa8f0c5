// The type of the column in which a model stores a property.

import Foundation
import SynclineCore

struct PropertyType {
    /// `any` if it is not known.
    let column: ColumnType

    init(_ type: Any.Type) {
        column = PropertyType.known(type) ?? PropertyType.asked(type)
    }

    private static func known(_ type: Any.Type) -> ColumnType? {
        switch type {
        case is Bool.Type: .boolean
        case is String.Type, is URL.Type: .string
        case is any FixedWidthInteger.Type: .integer
        case is Double.Type, is Float.Type: .number
        case is Date.Type, is CalendarDay.Type: .date
        case is UUID.Type: .uuid
        case is Decimal.Type: .decimal
        case is Data.Type: .bytes
        case is Value.Type: .any
        case let raw as any RawRepresentable.Type: PropertyType(rawValue(of: raw)).column
        default: nil
        }
    }

    private static func rawValue<Raw: RawRepresentable>(of type: Raw.Type) -> Any.Type { Raw.RawValue.self }

    /// Runs the type's decoder to see what it asks for first.
    private static func asked(_ type: Any.Type) -> ColumnType {
        guard let type = type as? any Decodable.Type else { return .any }
        let question = Question()
        _ = try? type.init(from: question)
        return question.answer ?? .any
    }
}

/// A decoder that only notes the first question.
private final class Question: Decoder, SingleValueDecodingContainer {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private(set) var answer: ColumnType?

    private struct Answered: Error {}

    private func note(_ type: ColumnType) -> Answered {
        answer = answer ?? type
        return Answered()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw note(.json) }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw note(.json) }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }
    func decode<Made: Decodable>(_ type: Made.Type) throws -> Made { throw note(PropertyType(type).column) }
}
