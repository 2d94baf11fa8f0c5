// HTTP with libcurl. Requests are handed to one thread, which runs all of them at once and keeps connections open
// for later ones. A task waits without blocking a thread, and its cancellation wakes the loop.

#if os(Linux)
    import CCurl
    package import SynclineCore
    import SynclineGround

    package final class CurlTransport: HTTPTransport {
        private let base: String
        private let loop: CurlLoop
        private let numbers = Atomic<UInt64>(0)

        /// `base` is a backend's URL without a trailing slash.
        init(_ base: String, _ limits: TransportLimits) throws(SyncError) {
            self.base = base
            guard let loop = CurlLoop(limits) else {
                throw SyncError(.internalError, "libcurl could not be started", hint: "Check the free memory.")
            }
            self.loop = loop
        }

        deinit {
            loop.stop()
        }

        package func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
            try await perform(request, nil)
        }

        package func listen(
            _ request: HTTPRequest, _ hear: @escaping @Sendable ([UInt8]) -> Void
        ) async throws(NetworkFailure) -> HTTPResponse {
            try await perform(request, hear)
        }

        private func perform(
            _ request: HTTPRequest, _ hear: (@Sendable ([UInt8]) -> Void)?
        ) async throws(NetworkFailure) -> HTTPResponse {
            let number = numbers.add(1, ordering: .relaxed).newValue
            let url = request.target(below: base)
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    loop.submit(
                        CurlJob(number: number, url: url, request: request, hear: hear, continuation: continuation))
                    // A cancellation that came before the job found nothing to cancel.
                    if Task.isCancelled { loop.cancel(number) }
                }
            } onCancel: {
                loop.cancel(number)
            }
            return try result.get()
        }
    }

    /// A request for the loop.
    struct CurlJob: Sendable {
        let number: UInt64
        let url: String
        let request: HTTPRequest
        /// Takes the pieces of a body that may never end; nil to get the whole body.
        let hear: (@Sendable ([UInt8]) -> Void)?
        let continuation: CheckedContinuation<Result<HTTPResponse, NetworkFailure>, Never>
    }
#endif
