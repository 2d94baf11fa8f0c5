// A value that every request reads and that seldom changes. With one lock for all readers, a thread that is interrupted
// while it holds the lock would repeatedly make all others wait. Here a reader takes one of many locks, chosen by its
// thread.

import CLibrary
import SynclineGround

final class SharedReading<Value: Sendable>: Sendable {
    private final class Cell: Sendable {
        let value: Mutex<Value>

        init(_ value: Value) { self.value = Mutex(value) }
    }

    private let cells: [Cell]
    private let changing = Mutex(())

    init(_ value: Value) {
        cells = (0..<64).map { _ in Cell(value) }
    }

    /// The value. Until a change has returned, another thread may read the previous one.
    var value: Value { cells[SharedReading.place(below: cells.count)].value.withLock { $0 } }

    /// Changes the value for all readers. Changes run one after another.
    func change(_ body: (inout Value) -> Void) {
        changing.withLock { _ in
            var value = cells[0].value.withLock { $0 }
            body(&value)
            for cell in cells { cell.value.withLock { $0 = value } }
        }
    }

    /// A number that usually differs between threads.
    private static func place(below count: Int) -> Int {
        let thread = UInt(bitPattern: pthread_self())
        // The highest bits of the product depend on all bits of the address.
        return Int(((thread &* 0x9e37_79b9_7f4a_7c15) >> 32) % UInt(count))
    }
}

#if !canImport(Darwin)
    extension UInt {
        fileprivate init(bitPattern thread: pthread_t) { self = UInt(thread) }
    }
#endif
