// Distinct sequences of bytes, less than 4 GiB in all, with numbers in the order in which they were added.

import SynclineGround

package struct DistinctBytes: Sendable {
    private var content: [UInt8] = []
    private var ends: [UInt32] = [0]
    /// The low halves of their hashes.
    private var hashes: [UInt32] = []
    /// Where they are by their hashes; -1 where there is none.
    private var table: [Int32]

    /// - Parameter capacity: How many there will be.
    package init(capacity: Int = 0) {
        var size = 64
        while size < 2 * capacity { size *= 2 }
        table = [Int32](repeating: -1, count: size)
        hashes.reserveCapacity(capacity)
        ends.reserveCapacity(capacity + 1)
        content.reserveCapacity(capacity * 20)
    }

    package var count: Int { hashes.count }

    /// The number of a sequence; nil if it was not added.
    package func number(of bytes: Bytes) -> Int? {
        let number = table[place(of: bytes, UInt32(truncatingIfNeeded: hash64(bytes)))]
        return number < 0 ? nil : Int(number)
    }

    /// Adds a sequence if it is new; returns its number.
    package mutating func add(_ bytes: Bytes) -> Int {
        let hash = UInt32(truncatingIfNeeded: hash64(bytes))
        let place = place(of: bytes, hash)
        if table[place] >= 0 { return Int(table[place]) }
        table[place] = Int32(hashes.count)
        hashes.append(hash)
        content.append(contentsOf: bytes)
        ends.append(UInt32(content.count))
        if hashes.count * 2 > table.count { grow() }
        return hashes.count - 1
    }

    package func withBytes<Result, Failure: Error>(
        of number: Int, _ body: (Bytes) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try content.withBytes { bytes throws(Failure) in
            try body(Bytes(rebasing: bytes[Int(ends[number])..<Int(ends[number + 1])]))
        }
    }

    @inline(__always)
    private func place(of bytes: Bytes, _ hash: UInt32) -> Int {
        var place = Int(hash) & (table.count - 1)
        while table[place] >= 0 {
            let number = Int(table[place])
            if hashes[number] == hash, withBytes(of: number, { $0.hasSameBytes(as: bytes) }) { break }
            place = (place + 1) & (table.count - 1)
        }
        return place
    }

    private mutating func grow() {
        table = [Int32](repeating: -1, count: table.count * 2)
        for (number, hash) in hashes.enumerated() {
            var place = Int(hash) & (table.count - 1)
            while table[place] >= 0 { place = (place + 1) & (table.count - 1) }
            table[place] = Int32(number)
        }
    }
}
