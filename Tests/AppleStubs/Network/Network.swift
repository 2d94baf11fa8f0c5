// Stands in for Apple's Network: the monitor of the paths to a network.

public import Dispatch

public struct NWPath: Equatable, Sendable {
    public enum Status: Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: Status
    init() { status = .unsatisfied }
}

public final class NWPathMonitor: Sendable {
    public init() {}
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { nil }
        set {}
    }
    public var currentPath: NWPath { NWPath() }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
