// One exchange: libcurl's options for the request, the response so far, and the meaning of its end.

#if os(Linux)
    import CCurl
    import SynclineCore

    final class CurlTransfer {
        var number: UInt64 { job.number }
        private let job: CurlJob
        private let easy: UnsafeMutableRawPointer
        private let limits: TransportLimits
        /// What libcurl reads while the transfer runs.
        private let body: UnsafeMutableRawBufferPointer
        private let message: UnsafeMutablePointer<CChar>
        private var headerLines: UnsafeMutablePointer<curl_slist>?

        private var response = HTTPResponse(status: 0)
        private var headerSize = 0
        /// Whether the empty line that ends the headers has been read: later headers are not the response's.
        private var areHeadersComplete = false
        private var refusal: String?

        init(_ job: CurlJob, _ easy: UnsafeMutableRawPointer, _ limits: TransportLimits) {
            self.job = job
            self.easy = easy
            self.limits = limits
            let bytes = job.request.body ?? []
            body = .allocate(byteCount: max(1, bytes.count), alignment: 1)
            body.copyBytes(from: bytes)
            message = .allocate(capacity: Int(CURL_ERROR_SIZE))
            message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
            configure()
            describe(job.request, length: bytes.count)
        }

        deinit {
            curl_slist_free_all(headerLines)
            body.deallocate()
            message.deallocate()
        }

        // MARK: The request

        private func configure() {
            syncline_curl_allow_http_only(easy)
            set(CURLOPT_NOSIGNAL, 1)
            set(CURLOPT_FOLLOWLOCATION, 0)
            set(CURLOPT_PATH_AS_IS, 1)
            set(CURLOPT_TCP_KEEPALIVE, 1)
            set(CURLOPT_CONNECTTIMEOUT_MS, limits.connect.milliseconds)
            // A stream may last, but must show from time to time that it is alive.
            set(CURLOPT_TIMEOUT_MS, job.hear == nil ? limits.total.milliseconds : 0)
            set(CURLOPT_MAXAGE_CONN, max(1, limits.idle.milliseconds / 1000))
            set(CURLOPT_LOW_SPEED_LIMIT, 1)
            set(CURLOPT_LOW_SPEED_TIME, max(1, limits.stall.milliseconds / 1000))
            // All compressions that this libcurl supports.
            syncline_curl_set_text(easy, CURLOPT_ACCEPT_ENCODING, "")
            syncline_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, message)
            let context = Unmanaged.passUnretained(self).toOpaque()
            syncline_curl_set_callback(easy, CURLOPT_WRITEFUNCTION, curlBody)
            syncline_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
            syncline_curl_set_callback(easy, CURLOPT_HEADERFUNCTION, curlHeader)
            syncline_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
        }

        private func describe(_ request: HTTPRequest, length: Int) {
            syncline_curl_set_text(easy, CURLOPT_URL, job.url)
            let hasBody = request.body != nil || request.method == "POST" || request.method == "PUT"
            if hasBody {
                syncline_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(length))
                syncline_curl_set_pointer(easy, CURLOPT_POSTFIELDS, body.baseAddress)
            }
            if request.method != (hasBody ? "POST" : "GET") {
                syncline_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method)
            }
            for header in request.headers where header.isWellFormed {
                // A header with an empty value is written with a semicolon; with a colon libcurl would remove it.
                addHeader(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
            }
            // libcurl's own headers: it would wait for a 100 before a larger body, and send a form's type.
            addHeader("Expect:")
            if !request.headers.contains("Content-Type") { addHeader("Content-Type:") }
            if !request.headers.contains("User-Agent") { addHeader("User-Agent: Syncline") }
            syncline_curl_set_headers(easy, headerLines)
        }

        private func set(_ option: CURLoption, _ value: Int) {
            syncline_curl_set_number(easy, option, value)
        }

        private func addHeader(_ line: String) {
            if let longer = curl_slist_append(headerLines, line) { headerLines = longer }
        }

        // MARK: The answer

        /// Returns whether to continue.
        func take(body piece: UnsafeRawBufferPointer) -> Bool {
            if let hear = job.hear {
                hear(Array(piece))
                return true
            }
            guard response.body.count + piece.count <= limits.responseSize else {
                response.refusal = limits.refusal
                response.body = []
                return false
            }
            response.body.append(contentsOf: piece)
            return true
        }

        /// Returns whether to continue.
        func take(header line: UnsafeRawBufferPointer) -> Bool {
            headerSize += line.count
            guard headerSize <= limits.headerSize else {
                refusal = "the response's headers are larger than \(limits.headerSize) bytes"
                return false
            }
            if line.starts(with: "HTTP/".utf8) {
                // Of several responses (a 100 before a 200) the last one counts.
                response.headers = []
                areHeadersComplete = false
            } else if line.allSatisfy({ $0 == 0x0d || $0 == 0x0a }) {
                areHeadersComplete = true
            } else if !areHeadersComplete, let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                let name = String(decoding: line[..<colon], as: UTF8.self)
                let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
                response.headers.append(HTTPHeader(name.trimmed, value.trimmed))
            }
            return true
        }

        /// Returns what the end of the transfer means.
        func result(_ code: CURLcode) -> Result<HTTPResponse, NetworkFailure> {
            if let refusal { return .failure(.refused(refusal)) }
            if code == CURLE_OK || response.refusal != nil {
                // libcurl accepts a connection that closes within the headers as a response.
                guard areHeadersComplete else { return .failure(.offline("the response ended within its headers")) }
                response.status = syncline_curl_status(easy)
                return .success(response)
            }
            let words = String(cString: message)
            let reason = words.isEmpty ? String(cString: curl_easy_strerror(code)) : words
            return .failure(CurlTransfer.isNoHTTP(code) ? .refused(reason) : .offline(reason))
        }

        /// Returns whether the response was not valid HTTP; all other errors mean that it was incomplete.
        private static func isNoHTTP(_ code: CURLcode) -> Bool {
            [CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_URL_MALFORMAT]
                .contains(code)
        }

        func end(_ result: Result<HTTPResponse, NetworkFailure>) {
            job.continuation.resume(returning: result)
        }
    }

    extension Duration {
        /// At least one: zero would mean no limit.
        var milliseconds: Int {
            let (seconds, attoseconds) = components
            return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
        }
    }
#endif
