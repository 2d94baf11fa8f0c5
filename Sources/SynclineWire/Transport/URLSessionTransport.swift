// HTTP over URLSession, on platforms that bring it with the system. It keeps nothing between exchanges: no cookies, no
// cache, no credentials.

#if canImport(Darwin) || SYNCLINE_URLSESSION
    import Foundation
    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif
    package import SynclineCore
    import Synchronization

    package final class URLSessionTransport: HTTPTransport {
        private let base: String
        private let limits: TransportLimits
        private let session: URLSession
        private let exchanges: URLSessionExchanges

        /// `base` is a backend's URL without a slash at its end.
        package init(_ base: String, _ limits: TransportLimits) {
            self.base = base
            self.limits = limits
            exchanges = URLSessionExchanges(responseSize: limits.responseSize)
            let configuration = URLSessionConfiguration.ephemeral
            // URLSession has no limit for connecting alone: the pause that it bears bounds it.
            configuration.timeoutIntervalForRequest = limits.stall.timeInterval
            configuration.timeoutIntervalForResource = limits.total.timeInterval
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
        }

        deinit {
            session.invalidateAndCancel()
        }

        package func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
            guard let url = URL(string: request.target(below: base)) else {
                throw .refused("the request's URL can't be formed")
            }
            var wanted = URLRequest(url: url)
            wanted.httpMethod = request.method
            wanted.timeoutInterval = limits.stall.timeInterval
            wanted.httpBody = request.body.map { Data($0) }
            for header in request.headers where header.isWellFormed {
                wanted.setValue(header.value, forHTTPHeaderField: header.name)
            }
            let task = session.dataTask(with: wanted)
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    exchanges.start(task, continuation)
                    if Task.isCancelled { task.cancel() }
                }
            } onCancel: {
                task.cancel()
            }
            return try result.get()
        }
    }

    /// What has come of each answer.
    private final class URLSessionExchanges: NSObject, URLSessionDataDelegate, Sendable {
        private struct Exchange {
            let continuation: CheckedContinuation<Result<HTTPResponse, NetworkFailure>, Never>
            var response = HTTPResponse(status: 0)
            var failure: NetworkFailure?
        }

        private let responseSize: Int
        private let exchanges = Mutex<[Int: Exchange]>([:])

        init(responseSize: Int) {
            self.responseSize = responseSize
        }

        func start(
            _ task: URLSessionTask, _ continuation: CheckedContinuation<Result<HTTPResponse, NetworkFailure>, Never>
        ) {
            exchanges.withLock { $0[task.taskIdentifier] = Exchange(continuation: continuation) }
            task.resume()
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            // A redirect is an answer like any other.
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            exchanges.withLock { exchanges in
                guard let response = response as? HTTPURLResponse else {
                    exchanges[dataTask.taskIdentifier]?.failure = .refused("the answer is not HTTP")
                    return
                }
                exchanges[dataTask.taskIdentifier]?.response.status = response.statusCode
                exchanges[dataTask.taskIdentifier]?.response.headers = response.allHeaderFields.compactMap { field in
                    guard let name = field.key as? String, let value = field.value as? String else { return nil }
                    return HTTPHeader(name, value.trimmed)
                }
            }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let isTooLarge = exchanges.withLock { exchanges in
                let size = exchanges[dataTask.taskIdentifier]?.response.body.count ?? 0
                guard size + data.count <= responseSize else {
                    exchanges[dataTask.taskIdentifier]?.failure = .refused(
                        "the answer is larger than \(responseSize) bytes")
                    return true
                }
                exchanges[dataTask.taskIdentifier]?.response.body += data
                return false
            }
            if isTooLarge { dataTask.cancel() }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
            let result: Result<HTTPResponse, NetworkFailure> =
                if let failure = exchange.failure {
                    .failure(failure)
                } else if let error {
                    .failure(URLSessionExchanges.failure(error))
                } else if exchange.response.status == 0 {
                    .failure(.offline("the connection was closed without an answer"))
                } else {
                    .success(exchange.response)
                }
            exchange.continuation.resume(returning: result)
        }

        private static func failure(_ error: any Error) -> NetworkFailure {
            guard let error = error as? URLError else { return .offline("\(error)") }
            switch error.code {
            case .cancelled: return .cancelled
            case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
                .dataLengthExceedsMaximum, .unsupportedURL, .badURL:
                return .refused(error.localizedDescription)
            default: return .offline(error.localizedDescription)
            }
        }
    }

    extension Duration {
        fileprivate var timeInterval: Double {
            let (seconds, attoseconds) = components
            return Double(seconds) + Double(attoseconds) / 1e18
        }
    }
#endif
