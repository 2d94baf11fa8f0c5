// HTTP with URLSession, on platforms that include it. Keeps nothing between exchanges: no cookies, no cache, no
// credentials.

#if canImport(Darwin) || SYNCLINE_URLSESSION
    import Foundation
    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif
    package import SynclineCore
    import SynclineGround

    package final class URLSessionTransport: HTTPTransport {
        private let base: String
        private let limits: TransportLimits
        private let exchanges: URLSessionExchanges
        /// The session for long-lasting responses.
        private let streams: URLSessionExchanges

        /// `base` is a backend's URL without a trailing slash.
        package init(_ base: String, _ limits: TransportLimits) {
            self.base = base
            self.limits = limits
            let configuration = URLSessionConfiguration.ephemeral
            // URLSession has no timeout for connecting alone: its timeout for silence limits it.
            configuration.timeoutIntervalForRequest = limits.stall.timeInterval
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            // A stream may last, but must show from time to time that it is alive.
            streams = URLSessionExchanges(configuration, limits)
            configuration.timeoutIntervalForResource = limits.total.timeInterval
            exchanges = URLSessionExchanges(configuration, limits)
        }

        deinit {
            exchanges.end()
            streams.end()
        }

        package func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
            try await exchanges.perform(try urlRequest(request), nil)
        }

        package func listen(
            _ request: HTTPRequest, _ hear: @escaping @Sendable ([UInt8]) -> Void
        ) async throws(NetworkFailure) -> HTTPResponse {
            try await streams.perform(try urlRequest(request), hear)
        }

        private func urlRequest(_ request: HTTPRequest) throws(NetworkFailure) -> URLRequest {
            guard let url = URL(string: request.target(below: base)) else {
                throw .refused("the request's URL is not valid")
            }
            var wanted = URLRequest(url: url)
            wanted.httpMethod = request.method
            wanted.timeoutInterval = limits.stall.timeInterval
            wanted.httpBody = request.body.map { Data($0) }
            for header in request.headers where header.isWellFormed {
                wanted.setValue(header.value, forHTTPHeaderField: header.name)
            }
            return wanted
        }
    }

    /// A session, and its responses so far.
    private final class URLSessionExchanges: NSObject, URLSessionDataDelegate, Sendable {
        private typealias Continuation = CheckedContinuation<Result<HTTPResponse, NetworkFailure>, Never>

        private struct Exchange {
            let continuation: Continuation
            /// Takes the pieces of a body that may never end; nil to get the whole body.
            let hear: (@Sendable ([UInt8]) -> Void)?
            var response = HTTPResponse(status: 0)
            var failure: NetworkFailure?
        }

        private let limits: TransportLimits
        private let exchanges = Mutex<[Int: Exchange]>([:])
        /// The session retains its delegate until it is ended, so it is created after everything else here.
        private let session = Mutex<URLSession?>(nil)

        init(_ configuration: URLSessionConfiguration, _ limits: TransportLimits) {
            self.limits = limits
            super.init()
            let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            self.session.withLock { $0 = session }
        }

        func end() {
            session.withLock { $0 }?.invalidateAndCancel()
        }

        func perform(
            _ request: URLRequest, _ hear: (@Sendable ([UInt8]) -> Void)?
        ) async throws(NetworkFailure) -> HTTPResponse {
            guard let task = session.withLock({ $0 })?.dataTask(with: request) else { throw .cancelled }
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { (continuation: Continuation) in
                    exchanges.withLock {
                        $0[task.taskIdentifier] = Exchange(continuation: continuation, hear: hear)
                    }
                    task.resume()
                    if Task.isCancelled { task.cancel() }
                }
            } onCancel: {
                task.cancel()
            }
            return try result.get()
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            // A redirect is returned like any other response.
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            exchanges.withLock { exchanges in
                guard let response = response as? HTTPURLResponse else {
                    exchanges[dataTask.taskIdentifier]?.failure = .refused("the response is not HTTP")
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
            let number = dataTask.taskIdentifier
            if let hear = exchanges.withLock({ $0[number]?.hear }) { return hear(Array(data)) }
            let isTooLarge = exchanges.withLock { exchanges in
                let size = exchanges[number]?.response.body.count ?? 0
                guard size + data.count <= limits.responseSize else {
                    exchanges[number]?.response.refusal = limits.refusal
                    exchanges[number]?.response.body = []
                    return true
                }
                exchanges[number]?.response.body += data
                return false
            }
            if isTooLarge { dataTask.cancel() }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
            let result: Result<HTTPResponse, NetworkFailure> =
                if let failure = exchange.failure {
                    .failure(failure)
                } else if let error, exchange.response.refusal == nil {
                    .failure(URLSessionExchanges.failure(error))
                } else if exchange.response.status == 0 {
                    .failure(.offline("the connection was closed without a response"))
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
