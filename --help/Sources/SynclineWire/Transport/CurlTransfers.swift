// The running transfers, by libcurl's handles, and handles to be reused.

#if os(Linux)
    import CCurl
    import SynclineCore

    struct CurlTransfers {
        private let multi: UnsafeMutableRawPointer
        private let limits: TransportLimits
        private var running: [UnsafeMutableRawPointer: CurlTransfer] = [:]
        private var idle: [UnsafeMutableRawPointer] = []
        /// The maximum number of idle handles kept.
        private static let idleLimit = 8

        init(_ multi: UnsafeMutableRawPointer, _ limits: TransportLimits) {
            self.multi = multi
            self.limits = limits
        }

        mutating func start(_ job: CurlJob) {
            guard let easy = idle.popLast() ?? curl_easy_init() else {
                job.continuation.resume(returning: .failure(.offline("libcurl is out of memory")))
                return
            }
            let transfer = CurlTransfer(job, easy, limits)
            let code = curl_multi_add_handle(multi, easy)
            guard code == CURLM_OK else {
                transfer.end(.failure(.offline(String(cString: curl_multi_strerror(code)))))
                curl_easy_cleanup(easy)
                return
            }
            running[easy] = transfer
        }

        /// Ends the running transfers with these numbers.
        mutating func cancel(_ numbers: Set<UInt64>) {
            if numbers.isEmpty { return }
            for (easy, transfer) in running where numbers.contains(transfer.number) {
                finish(easy, .failure(.cancelled))
            }
        }

        /// Does what can be done without waiting, and finishes completed transfers.
        mutating func advance() {
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
            while let message = curl_multi_info_read(multi, &count) {
                var code = CURLE_OK
                guard let easy = syncline_curl_ended(message, &code), let transfer = running[easy] else { continue }
                finish(easy, transfer.result(code))
            }
        }

        /// Ends all transfers.
        mutating func end() {
            for easy in running.keys { finish(easy, .failure(.cancelled)) }
            for easy in idle { curl_easy_cleanup(easy) }
            idle = []
        }

        private mutating func finish(_ easy: UnsafeMutableRawPointer, _ result: Result<HTTPResponse, NetworkFailure>) {
            guard let transfer = running.removeValue(forKey: easy) else { return }
            curl_multi_remove_handle(multi, easy)
            if idle.count < CurlTransfers.idleLimit {
                curl_easy_reset(easy)
                idle.append(easy)
            } else {
                curl_easy_cleanup(easy)
            }
            transfer.end(result)
        }
    }
#endif
