// Stands in for `Synchronization.Mutex` in builds for the thread sanitizer (SYNCLINE_THREAD_SANITIZER set): on Linux the
// sanitizer does not see the standard library's lock and reports every guarded access as a race. It does see a
// pthread mutex. Other builds contain nothing of this. Each module that locks has it, by a link to the one file.

#if THREAD_SANITIZER
    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    // Unchecked: the value is reached only between lock and unlock, which is what makes it safe to share.
    struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        private let value: UnsafeMutablePointer<Value>
        private let lock: UnsafeMutablePointer<pthread_mutex_t>

        init(_ initial: consuming sending Value) {
            value = .allocate(capacity: 1)
            value.initialize(to: initial)
            lock = .allocate(capacity: 1)
            pthread_mutex_init(lock, nil)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }

        borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(lock) == 0 else { return nil }
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
#endif
