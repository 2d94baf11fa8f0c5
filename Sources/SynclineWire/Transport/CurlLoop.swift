// The thread that libcurl runs on. Only the wake-up is called on other threads. Work from tasks waits in a mailbox,
// and a wake-up between two waits ends the next one at once.

#if os(Linux)
    import CCurl
    import CLibrary
    import SynclineGround
    import SynclineCore

    // Unchecked: the multi handle is used by the loop's thread. Other threads only use it to wake the loop, which
    // libcurl allows, under the mailbox's lock and while the mailbox says that the handle exists.
    final class CurlLoop: @unchecked Sendable {
        private struct Mailbox {
            var jobs: [CurlJob] = []
            var cancelled: Set<UInt64> = []
            var isStopped = false
            /// Whether the thread has ended, and with it the handle.
            var isGone = false
        }

        private let multi: UnsafeMutableRawPointer
        private let limits: TransportLimits
        private let mailbox = Mutex(Mailbox())

        /// libcurl must be initialized once.
        private static let isSetUp: Bool = {
            syncline_curl_global_init()
            return true
        }()

        /// Nil if libcurl or the system has no more resources.
        init?(_ limits: TransportLimits) {
            guard CurlLoop.isSetUp, let multi = curl_multi_init() else { return nil }
            self.multi = multi
            self.limits = limits
            var thread = pthread_t()
            let context = Unmanaged.passRetained(self)
            guard pthread_create(&thread, nil, curlThread, context.toOpaque()) == 0 else {
                context.release()
                curl_multi_cleanup(multi)
                return nil
            }
            pthread_detach(thread)
        }

        // MARK: From any thread

        func submit(_ job: CurlJob) {
            let isTaken = mailbox.withLock { mailbox in
                if mailbox.isStopped { return false }
                mailbox.jobs.append(job)
                curl_multi_wakeup(multi)
                return true
            }
            if !isTaken { job.continuation.resume(returning: .failure(.cancelled)) }
        }

        func cancel(_ number: UInt64) {
            mailbox.withLock { mailbox in
                if mailbox.isGone { return }
                mailbox.cancelled.insert(number)
                curl_multi_wakeup(multi)
            }
        }

        /// Ends the thread; remaining transfers end as cancelled.
        func stop() {
            mailbox.withLock { mailbox in
                mailbox.isStopped = true
                if !mailbox.isGone { curl_multi_wakeup(multi) }
            }
        }

        // MARK: On the loop's thread

        /// Runs until it is stopped.
        func run() {
            var transfers = CurlTransfers(multi, limits)
            while true {
                let (jobs, cancelled, isStopped) = mailbox.withLock { mailbox in
                    defer {
                        mailbox.jobs = []
                        mailbox.cancelled = []
                    }
                    return (mailbox.jobs, mailbox.cancelled, mailbox.isStopped)
                }
                for job in jobs { transfers.start(job) }
                transfers.cancel(cancelled)
                if isStopped { break }
                transfers.advance()
                // Long, because new work wakes it.
                curl_multi_poll(multi, nil, 0, 60_000, nil)
            }
            transfers.end()
            mailbox.withLock { $0.isGone = true }
            curl_multi_cleanup(multi)
        }
    }
#endif
