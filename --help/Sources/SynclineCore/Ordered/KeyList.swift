// Sorted keys that are searched in memory: the first of each block of a run.

import SynclineGround

/// Sorted keys, stored one after another.
struct KeyList {
    private var keys: [UInt8] = []
    private var ends: [UInt32] = []

    mutating func append(_ key: Bytes) {
        keys.append(contentsOf: key)
        ends.append(UInt32(truncatingIfNeeded: keys.count))
    }

    /// Returns the last key that is not after another; nil if all are after it.
    func last(notAfter key: Bytes) -> Int? {
        keys.withBytes { keys in
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if self.key(middle, of: keys).compare(key) <= 0 { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? nil : low - 1
        }
    }

    /// Finds the same for several keys, or 0 if all are after one. Each step is made for all of them before the next one: so
    /// the processor need not wait for what one of them reads, and guesses nothing.
    /// - Parameter isWanted: Which of the keys are searched for.
    @inline(__always)
    func findPlaces(of lookups: KeyLookups, _ isWanted: (borrowing KeyLookup) -> Bool) {
        for index in lookups.indices where isWanted(lookups[index]) { lookups[index].place = 0 }
        var left = ends.count
        keys.withBytes { list in
            while left > 1 {
                let half = left / 2
                for index in lookups.indices where isWanted(lookups[index]) {
                    let place = lookups[index].place
                    let isAfter = key(place + half, of: list).compare(lookups[index].key) > 0
                    lookups[index].place = isAfter ? place : place + half
                }
                left -= half
            }
        }
    }

    /// Compares a key of the list with another.
    func compare(_ place: Int, _ key: Bytes) -> Int {
        keys.withBytes { self.key(place, of: $0).compare(key) }
    }

    private func key(_ place: Int, of keys: Bytes) -> Bytes {
        Bytes(rebasing: keys[(place == 0 ? 0 : Int(ends[place - 1]))..<Int(ends[place])])
    }
}
