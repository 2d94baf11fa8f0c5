// A counting semaphore whose waits have limits. On Linux, those of libdispatch's own go by the wall clock: one that is set
// back makes them longer.

#if canImport(Darwin)
    import Dispatch

    typealias TimedSemaphore = DispatchSemaphore

    extension DispatchSemaphore {
        /// Waits for a signal; returns whether it came in time.
        func wait(atMost limit: Duration) -> Bool {
            wait(timeout: .now() + .nanoseconds(Int(limit / .nanoseconds(1)))) == .success
        }
    }
#else
    import CLibrary

    // Unchecked: the count is used only between lock and unlock.
    final class TimedSemaphore: @unchecked Sendable {
        private var count: Int
        /// Allocated, because neither may move.
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let signalled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

        init(value: Int) {
            count = value
            pthread_mutex_init(lock, nil)
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(signalled, &attributes)
            pthread_condattr_destroy(&attributes)
        }

        deinit {
            pthread_cond_destroy(signalled)
            pthread_mutex_destroy(lock)
            signalled.deallocate()
            lock.deallocate()
        }

        func signal() {
            pthread_mutex_lock(lock)
            count += 1
            pthread_mutex_unlock(lock)
            pthread_cond_signal(signalled)
        }

        /// Waits for a signal; returns whether it came in time.
        func wait(atMost limit: Duration) -> Bool {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            var end = count == 0 ? limit.end : timespec()
            while count == 0 {
                if pthread_cond_timedwait(signalled, lock, &end) == ETIMEDOUT, count == 0 { return false }
            }
            count -= 1
            return true
        }
    }
#endif
