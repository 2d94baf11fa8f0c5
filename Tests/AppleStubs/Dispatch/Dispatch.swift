// Stands in for Apple's Dispatch.

open class DispatchObject: @unchecked Sendable {}

public final class DispatchQueue: DispatchObject, @unchecked Sendable {
    public init(label: String) {}
    public func async(execute work: @escaping @Sendable @convention(block) () -> Void) {}
    public func sync<Result>(execute work: () throws -> Result) rethrows -> Result { try work() }
    public func asyncAfter(deadline: DispatchTime, execute work: @escaping @Sendable @convention(block) () -> Void) {}
    public class func global() -> DispatchQueue { DispatchQueue(label: "") }
    public class var main: DispatchQueue { DispatchQueue(label: "") }
}

public final class DispatchGroup: DispatchObject, @unchecked Sendable {
    public override init() {}
    public func enter() {}
    public func leave() {}
    public func wait() {}
}

public final class DispatchSemaphore: DispatchObject, @unchecked Sendable {
    public init(value: Int) {}
    @discardableResult public func signal() -> Int { 0 }
    public func wait() {}
}

public struct DispatchTime: Sendable {
    public static func now() -> DispatchTime { DispatchTime() }
    public static func + (left: DispatchTime, right: DispatchTimeInterval) -> DispatchTime { left }
}

public enum DispatchTimeInterval: Sendable {
    case seconds(Int)
    case milliseconds(Int)
}

public protocol DispatchSourceProtocol: AnyObject {
    func setEventHandler(handler: (@Sendable @convention(block) () -> Void)?)
    func setCancelHandler(handler: (@Sendable @convention(block) () -> Void)?)
    func cancel()
    func activate()
}

public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {}

public final class DispatchSource: DispatchObject, @unchecked Sendable {
    public struct FileSystemEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let delete = FileSystemEvent(rawValue: 0x1)
        public static let write = FileSystemEvent(rawValue: 0x2)
        public static let extend = FileSystemEvent(rawValue: 0x4)
        public static let rename = FileSystemEvent(rawValue: 0x20)
    }

    public class func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject {
        fatalError("a stand-in is not run")
    }
}
