// Stands in for the part of Apple's Foundation that handles files.

public struct ObjCBool: ExpressibleByBooleanLiteral, Sendable {
    public init(booleanLiteral value: Bool) {}
    public var boolValue: Bool { false }
}

public struct FileAttributeKey: Hashable, Sendable {
    public static let size = FileAttributeKey()
    public static let modificationDate = FileAttributeKey()
}

public class FileManager: NSObject, @unchecked Sendable {
    public class var `default`: FileManager { FileManager() }
    public var temporaryDirectory: URL { URL(fileURLWithPath: "") }
    public func fileExists(atPath path: String) -> Bool { false }
    public func fileExists(atPath path: String, isDirectory: UnsafeMutablePointer<ObjCBool>?) -> Bool { false }
    public func copyItem(atPath path: String, toPath target: String) throws {}
    public func removeItem(atPath path: String) throws {}
    public func createDirectory(atPath path: String, withIntermediateDirectories makesParents: Bool) throws {}
    public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] { [:] }
}

public class FileHandle: NSObject, @unchecked Sendable {
    public init?(forReadingAtPath path: String) {}
    @available(macOS 10.15.4, iOS 13.4, tvOS 13.4, watchOS 6.2, *)
    public func read(upToCount count: Int) throws -> Data? { nil }
}

public struct CharacterSet: Hashable, Sendable {
    public static let urlPathAllowed = CharacterSet()
}

extension StringProtocol {
    public func addingPercentEncoding(withAllowedCharacters allowed: CharacterSet) -> String? { nil }
}
