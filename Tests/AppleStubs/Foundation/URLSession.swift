// Stands in for the part of Apple's Foundation that speaks HTTP.

public class URLCache: NSObject, @unchecked Sendable {}
public class HTTPCookieStorage: NSObject, @unchecked Sendable {}
public class URLCredentialStorage: NSObject, @unchecked Sendable {}
public class OperationQueue: NSObject, @unchecked Sendable {}

public class URLSessionConfiguration: NSObject, @unchecked Sendable {
    public class var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
    public var timeoutIntervalForRequest: TimeInterval = 60
    public var timeoutIntervalForResource: TimeInterval = 604_800
    public var httpCookieStorage: HTTPCookieStorage?
    public var httpShouldSetCookies = true
    public var urlCache: URLCache?
    public var urlCredentialStorage: URLCredentialStorage?
}

public struct URLRequest: Hashable, Sendable {
    public init(url: URL) {}
    public var httpMethod: String?
    public var httpBody: Data?
    public var timeoutInterval: TimeInterval = 60
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}

public class URLResponse: NSObject, @unchecked Sendable {}

public class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public var statusCode: Int { 0 }
    public var allHeaderFields: [AnyHashable: Any] { [:] }
}

public class URLSessionTask: NSObject, @unchecked Sendable {
    public var taskIdentifier: Int { 0 }
    public func resume() {}
    public func cancel() {}
}

public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

public class URLSession: NSObject, @unchecked Sendable {
    public enum ResponseDisposition: Int, Sendable {
        case cancel
        case allow
    }

    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue: OperationQueue?
    ) {}
    public func dataTask(with request: URLRequest) -> URLSessionDataTask { URLSessionDataTask() }
    public func invalidateAndCancel() {}
}

public protocol URLSessionDelegate: AnyObject, Sendable {}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

public struct URLError: Error {
    public struct Code: Hashable, Sendable {
        public static let cancelled = Code()
        public static let badServerResponse = Code()
        public static let cannotParseResponse = Code()
        public static let cannotDecodeRawData = Code()
        public static let cannotDecodeContentData = Code()
        public static let dataLengthExceedsMaximum = Code()
        public static let unsupportedURL = Code()
        public static let badURL = Code()
    }

    public var code: Code { Code() }
}
