// Stands in for Apple's Foundation, as far as this project uses it.

@_exported public import Darwin
@_exported public import Dispatch

public typealias TimeInterval = Double
public typealias CGFloat = Double

open class Bundle {}

public struct Date: Hashable, Comparable, Codable, Sendable {
    public init(timeIntervalSince1970: TimeInterval) {}
    public init(timeIntervalSinceNow: TimeInterval) {}
    public var timeIntervalSince1970: TimeInterval { 0 }
    public static func < (left: Date, right: Date) -> Bool { false }
    public static let distantPast = Date(timeIntervalSince1970: 0)
    public static func + (date: Date, interval: TimeInterval) -> Date { date }
    public static func - (date: Date, interval: TimeInterval) -> Date { date }
    @available(macOS 12, iOS 15, tvOS 15, watchOS 8, *)
    public static var now: Date { Date(timeIntervalSince1970: 0) }
}

public struct TimeZone: Hashable, Codable, Sendable {
    public init?(identifier: String) {}
    @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
    public static var gmt: TimeZone { TimeZone() }
    public var identifier: String { "" }
    public func secondsFromGMT(for date: Date = .init(timeIntervalSince1970: 0)) -> Int { 0 }
    public func nextDaylightSavingTimeTransition(after date: Date) -> Date? { nil }
    private init() {}
}

public struct Data: Hashable, Codable, RandomAccessCollection, Sendable {
    public init(_ bytes: [UInt8]) {}
    public init?(base64Encoded text: String) {}
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(index: Int) -> UInt8 { 0 }
}

public typealias uuid_t = (
    UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
)

public struct UUID: Hashable, Codable, Sendable {
    public init() {}
    public init?(uuidString: String) {}
    public init(uuid: uuid_t) {}
    public var uuidString: String { "" }
}

public struct URL: Hashable, Codable, Sendable {
    public init?(string: String) {}
    public init(fileURLWithPath path: String) {}
    public var absoluteString: String { "" }
    public var path: String { "" }
}

public struct Locale: Hashable, Sendable {}

public struct Decimal: Hashable, Comparable, SignedNumeric, Codable, CustomStringConvertible, Sendable {
    public init(_ number: Int64) {}
    public init?<Number: BinaryInteger>(exactly number: Number) {}
    public init(integerLiteral value: Int) {}
    public var magnitude: Decimal { self }
    public static func + (left: Decimal, right: Decimal) -> Decimal { left }
    public static func - (left: Decimal, right: Decimal) -> Decimal { left }
    public static func * (left: Decimal, right: Decimal) -> Decimal { left }
    public static func *= (left: inout Decimal, right: Decimal) {}
    public init?(string: String, locale: Locale? = nil) {}
    public init(_ number: Double) {}
    public static func < (left: Decimal, right: Decimal) -> Bool { false }
    public var description: String { "" }
}

open class NSObject {
    public init() {}
}

extension Error {
    public var localizedDescription: String { "" }
}
