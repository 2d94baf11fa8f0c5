// Stands in for Apple's BackgroundTasks, as far as the snippets use it. It is not on macOS and watchOS.

#if !os(macOS) && !os(watchOS)
    public import Foundation

    @available(iOS 13, tvOS 13, *)
    open class BGTask: NSObject {
        public var identifier: String { "" }
        public var expirationHandler: (() -> Void)?
        public func setTaskCompleted(success: Bool) {}
    }

    @available(iOS 13, tvOS 13, *)
    open class BGTaskRequest: NSObject {
        public var identifier: String { "" }
        public var earliestBeginDate: Date?
    }

    @available(iOS 13, tvOS 13, *)
    open class BGAppRefreshTaskRequest: BGTaskRequest {
        public init(identifier: String) {}
    }

    @available(iOS 13, tvOS 13, *)
    open class BGTaskScheduler: NSObject {
        nonisolated(unsafe) private static let scheduler = BGTaskScheduler()
        public class var shared: BGTaskScheduler { scheduler }
        public func register(
            forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
            launchHandler: @escaping (BGTask) -> Void
        ) -> Bool { false }
        public func submit(_ taskRequest: BGTaskRequest) throws {}
    }
#endif
