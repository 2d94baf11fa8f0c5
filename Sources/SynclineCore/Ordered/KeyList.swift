// Sorted keys that are searched in memory: the first of each block of a run, and those that mark positions in a
// block.

import SynclineGround

/// Sorted keys, stored one after another.
struct KeyList {
    private var keys: [UInt8] = []
    private var ends: [UInt32] = []

    var size: Int { keys.count + ends.count * 4 }

    mutating func reserve(_ count: Int) {
        keys.reserveCapacity(count * 32)
        ends.reserveCapacity(count)
    }

    mutating func append(_ key: Bytes) {
        keys.append(contentsOf: key)
        ends.append(UInt32(truncatingIfNeeded: keys.count))
    }

    /// Returns the last key that is not after another, and the length of their common prefix; nil if all are after
    /// it.
    func last(notBehind key: Bytes) -> (place: Int, shared: Int)? {
        keys.withBytes { keys in
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if self.key(middle, of: keys).compare(key) <= 0 { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? nil : (low - 1, self.key(low - 1, of: keys).sharedPrefix(with: key))
        }
    }

    /// Compares a key of the list with another.
    func compare(_ place: Int, _ key: Bytes) -> Int {
        keys.withBytes { self.key(place, of: $0).compare(key) }
    }

    /// A copy of a key of the list.
    func copy(_ place: Int) -> [UInt8] {
        keys.withBytes { [UInt8](key(place, of: $0)) }
    }

    private func key(_ place: Int, of keys: Bytes) -> Bytes {
        Bytes(rebasing: keys[(place == 0 ? 0 : Int(ends[place - 1]))..<Int(ends[place])])
    }
}
