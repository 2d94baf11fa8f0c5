// Atomic values for the builds with a lock of their own (see Mutex.swift). They have the names and the calls of the
// standard library's that are used here, so no caller knows which it has.

#if canImport(Darwin) || OWN_LOCKS
    public import CAtomics

    /// A value that threads share without a lock.
    public struct Atomic<Value: AtomicValue>: ~Copyable, @unchecked Sendable {
        // Unchecked: the word is only ever accessed atomically.

        /// Allocated, because an atomic word must not move.
        @usableFromInline let word: UnsafeMutablePointer<UInt64>

        @inlinable
        public init(_ initial: Value) {
            word = .allocate(capacity: 1)
            word.initialize(to: initial.word)
        }

        @inlinable
        deinit { word.deallocate() }

        @inlinable
        public func load(ordering: AtomicLoadOrdering) -> Value {
            Value(word: catomics_load(word, ordering.rawValue))
        }

        @inlinable
        public func store(_ value: Value, ordering: AtomicStoreOrdering) {
            catomics_store(word, value.word, ordering.rawValue)
        }

        /// Returns the value that was replaced.
        @inlinable @discardableResult
        public func exchange(_ value: Value, ordering: AtomicUpdateOrdering) -> Value {
            Value(word: catomics_exchange(word, value.word, ordering.rawValue))
        }

        @inlinable @discardableResult
        public func compareExchange(
            expected: Value, desired: Value, ordering: AtomicUpdateOrdering
        ) -> (exchanged: Bool, original: Value) {
            var found = expected.word
            let exchanged = catomics_compare_exchange(word, &found, desired.word, ordering.rawValue)
            return (exchanged, Value(word: found))
        }

        /// The same as `compareExchange`, which never fails without a reason.
        @inlinable @discardableResult
        public func weakCompareExchange(
            expected: Value, desired: Value, ordering: AtomicUpdateOrdering
        ) -> (exchanged: Bool, original: Value) {
            compareExchange(expected: expected, desired: desired, ordering: ordering)
        }
    }

    extension Atomic where Value: FixedWidthInteger {
        @inlinable @discardableResult
        public func add(_ amount: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
            let old = Value(word: catomics_add(word, amount.word, ordering.rawValue))
            return (old, old &+ amount)
        }

        @inlinable @discardableResult
        public func subtract(_ amount: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
            let old = Value(word: catomics_add(word, 0 &- amount.word, ordering.rawValue))
            return (old, old &- amount)
        }

        @inlinable @discardableResult
        public func bitwiseOr(_ bits: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
            let old = Value(word: catomics_or(word, bits.word, ordering.rawValue))
            return (old, old | bits)
        }
    }

    /// What an atomic access makes visible to other threads. The numbers are the compiler's; see CAtomics.h.
    public enum AtomicLoadOrdering: Int32 {
        case relaxed = 0
        case acquiring = 2
    }

    public enum AtomicStoreOrdering: Int32 {
        case relaxed = 0
        case releasing = 3
    }

    public enum AtomicUpdateOrdering: Int32 {
        case relaxed = 0
        case acquiring = 2
        case releasing = 3
        case acquiringAndReleasing = 4
    }

    /// A value that fits into an atomic word.
    public protocol AtomicValue {
        init(word: UInt64)
        var word: UInt64 { get }
    }

    extension Bool: AtomicValue {
        @inlinable public init(word: UInt64) { self = word != 0 }
        @inlinable public var word: UInt64 { self ? 1 : 0 }
    }

    extension FixedWidthInteger {
        @inlinable public init(word: UInt64) { self.init(truncatingIfNeeded: word) }
        @inlinable public var word: UInt64 { UInt64(truncatingIfNeeded: self) }
    }

    extension Int: AtomicValue {}
    extension Int32: AtomicValue {}
    extension Int64: AtomicValue {}
    extension UInt: AtomicValue {}
    extension UInt64: AtomicValue {}
#endif
