// The records of a run, made before any clock starts: key and value of each side by side in one block of memory.

/// Sendable although it holds a pointer: nothing changes after `init`, except `stamp`, which only the follow
/// workload's single writer calls.
final class RecordSet: @unchecked Sendable {
    static let keySize = 16

    let count: Int
    private let storage: UnsafeMutableRawPointer
    private let offsets: [UInt32]

    init(count: Int) {
        storage = .allocate(byteCount: max(1, count) * RecordWriter.largestRecord, alignment: 64)
        let start = storage.assumingMemoryBound(to: UInt8.self)
        var writer = RecordWriter(at: start)
        offsets =
            [0]
            + (0..<count).map { index in
                writer.write(record: index)
                return UInt32(writer.end - start)
            }
        self.count = count
    }

    deinit { storage.deallocate() }

    /// Key and value together, as the log keeps them.
    func record(_ index: Int) -> UnsafeRawBufferPointer {
        let start = Int(offsets[index])
        return UnsafeRawBufferPointer(start: storage + start, count: Int(offsets[index + 1]) - start)
    }

    func key(_ index: Int) -> UnsafeRawBufferPointer { .init(rebasing: record(index)[..<Self.keySize]) }
    func value(_ index: Int) -> UnsafeRawBufferPointer { .init(rebasing: record(index)[Self.keySize...]) }

    /// Many records as one run of bytes.
    func records(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        let start = Int(offsets[range.lowerBound])
        return UnsafeRawBufferPointer(start: storage + start, count: Int(offsets[range.upperBound]) - start)
    }

    /// Puts a moment into a record's version, sixteen hexadecimal digits before its last two bytes.
    func stamp(_ index: Int, with moment: UInt64) {
        let end = Int(offsets[index + 1])
        for digit in 0..<16 {
            let nibble = UInt8(truncatingIfNeeded: moment >> (4 * UInt64(digit))) & 15
            storage.storeBytes(
                of: nibble < 10 ? 0x30 + nibble : 0x57 + nibble, toByteOffset: end - 3 - digit, as: UInt8.self)
        }
    }

    /// The moment a record carries.
    static func stamp(of record: UnsafeRawBufferPointer) -> UInt64 {
        var moment: UInt64 = 0
        for digit in record[(record.count - 18)..<(record.count - 2)] {
            moment = moment << 4 | UInt64(digit < 0x3a ? digit &- 0x30 : digit &- 0x57)
        }
        return moment
    }
}
