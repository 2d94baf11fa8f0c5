// The lock and the atomic values behave the same on every platform.

import SynclineGround
import Testing

@Suite struct LockConcurrencyTests {
    /// Calls the work many times from several threads at once.
    private func together(_ work: @escaping @Sendable () -> Void) async {
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<2_000 { work() } }
            }
        }
    }

    @Test func `one thread at a time holds a lock`() async {
        let counter = Counter()
        await together { counter.guarded.withLock { $0 = ($0.count + 1, $0.text + "a") } }
        let (count, text) = counter.guarded.withLock { $0 }
        #expect(count == 8_000 && text.utf8.count == 8_000)
    }

    @Test func `a lock that is held is not waited for`() {
        let lock = Mutex(1)
        let inside = lock.withLock { _ in lock.withLockIfAvailable { $0 } }
        #expect(inside == nil)
        let after = lock.withLockIfAvailable { $0 }
        #expect(after == 1)
    }

    @Test func `a lock is released when its work fails`() throws {
        let lock = Mutex(1)
        #expect(throws: CancellationError.self) { try lock.withLock { _ in throw CancellationError() } }
        let after = lock.withLockIfAvailable { $0 }
        #expect(after == 1)
    }

    @Test func `a guarded value ends with its lock`() {
        weak var seen: Counter?
        do {
            let counter = Counter()
            seen = counter
            let lock = Mutex<Counter?>(counter)
            lock.withLock { #expect($0 != nil) }
        }
        #expect(seen == nil)
    }

    @Test func `additions of several threads are all counted`() async {
        let counter = Counter()
        await together {
            counter.sum.add(3, ordering: .relaxed)
            counter.sum.subtract(1, ordering: .acquiringAndReleasing)
        }
        let sum = counter.sum.load(ordering: .acquiring)
        #expect(sum == 16_000)
    }

    @Test func `a failed exchange returns the current value`() {
        let value = Atomic<UInt64>(.max)
        let lost = value.compareExchange(expected: 1, desired: 2, ordering: .acquiringAndReleasing)
        #expect(!lost.exchanged && lost.original == .max)
        let won = value.compareExchange(expected: .max, desired: 2, ordering: .relaxed)
        #expect(won.exchanged && won.original == .max)
        let before = value.exchange(7, ordering: .acquiringAndReleasing)
        #expect(before == 2)
    }

    @Test func `values keep their sign and their type`() {
        let small = Atomic<Int32>(-1)
        let negative = small.load(ordering: .acquiring)
        #expect(negative == -1)
        let (old, new) = small.subtract(1, ordering: .relaxed)
        #expect(old == -1 && new == -2)
        let flag = Atomic(false)
        let was = flag.exchange(true, ordering: .acquiringAndReleasing)
        let isSet = flag.load(ordering: .relaxed)
        #expect(!was && isSet)
        let bits = Atomic<Int>(5)
        let change = bits.bitwiseOr(1 << 32, ordering: .acquiringAndReleasing)
        #expect(change.oldValue == 5 && change.newValue == 5 | 1 << 32)
        bits.store(-3, ordering: .releasing)
        let last = bits.load(ordering: .acquiring)
        #expect(last == -3)
    }

    @Test func `a thread that loads a value sees what was written before it was stored`() async {
        let counter = Counter()
        await withTaskGroup { group in
            group.addTask {
                for number in 1...2_000 {
                    counter.written.withLock { $0 = number }
                    counter.published.store(number, ordering: .releasing)
                }
            }
            group.addTask {
                var seen = 0
                while seen < 2_000 {
                    seen = counter.published.load(ordering: .acquiring)
                    let written = counter.written.withLock { $0 }
                    #expect(written >= seen)
                    await Task.yield()
                }
            }
        }
    }

    private final class Counter: Sendable {
        let guarded = Mutex((count: 0, text: ""))
        let sum = Atomic(0)
        let written = Mutex(0)
        let published = Atomic(0)
    }
}
