// The lock that every module uses. Modules import this one, and not Synchronization.
//
// On Linux it is the standard library's. Apple platforms have that one only since iOS 18 and macOS 15, so there it is this
// one, over the system's lock. Two builds on Linux use it too: the one that tests it (SYNCLINE_OWN_LOCKS set), and the one
// for the thread sanitizer (SYNCLINE_THREAD_SANITIZER set), which does not see the standard library's lock and reports every
// guarded access as a race. Builds with a lock of their own have atomic values of their own, too: see Atomic.swift.

#if !canImport(Darwin) && !OWN_LOCKS
    @_exported public import Synchronization
#else
    public import CLibrary

    #if canImport(Darwin)
        public typealias SystemLock = os_unfair_lock
    #else
        public typealias SystemLock = pthread_mutex_t
    #endif

    // Unchecked: the value is reached only between lock and unlock, which is what makes it safe to share.
    public struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        @usableFromInline let value: UnsafeMutablePointer<Value>
        /// Allocated, because a lock must not move.
        @usableFromInline let lock: UnsafeMutablePointer<SystemLock>

        @inlinable
        public init(_ initial: consuming sending Value) {
            value = .allocate(capacity: 1)
            value.initialize(to: initial)
            lock = .allocate(capacity: 1)
            lock.initialize(to: SystemLock())
        }

        @inlinable
        deinit {
            lock.destroy()
            lock.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        @inlinable
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            lock.lock()
            defer { lock.unlock() }
            return try body(&value.pointee)
        }

        @inlinable
        public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard lock.lockIfAvailable() else { return nil }
            defer { lock.unlock() }
            return try body(&value.pointee)
        }
    }

    extension UnsafeMutablePointer<SystemLock> {
        #if canImport(Darwin)
            // Inlinable like the lock, so that no call remains but the system's.
            @inlinable public func lock() { os_unfair_lock_lock(self) }
            @inlinable public func lockIfAvailable() -> Bool { os_unfair_lock_trylock(self) }
            @inlinable public func unlock() { os_unfair_lock_unlock(self) }
            @inlinable public func destroy() {}
        #else
            @inlinable public func lock() { pthread_mutex_lock(self) }
            @inlinable public func lockIfAvailable() -> Bool { pthread_mutex_trylock(self) == 0 }
            @inlinable public func unlock() { pthread_mutex_unlock(self) }
            @inlinable public func destroy() { pthread_mutex_destroy(self) }
        #endif
    }
#endif
