// The lock that every module uses, which is the standard library's.
//
// In builds for the thread sanitizer (SYNCLINE_THREAD_SANITIZER set) a stand-in takes its place: on Linux the sanitizer does
// not see the standard library's lock and reports every guarded access as a race. It does see a pthread mutex. A module
// that imports this one, and not Synchronization, means the stand-in by the name.

@_exported public import Synchronization

#if THREAD_SANITIZER
    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    // Unchecked: the value is reached only between lock and unlock, which is what makes it safe to share.
    package struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        private let value: UnsafeMutablePointer<Value>
        private let lock: UnsafeMutablePointer<pthread_mutex_t>

        package init(_ initial: consuming sending Value) {
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

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }

        package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(lock) == 0 else { return nil }
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
#endif
