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
        // Mostly they begin alike, as the keys of one table do. Among such keys the eight bytes that follow decide.
        var shared: Bytes?
        for index in lookups.indices where isWanted(lookups[index]) {
            let key = lookups[index].key
            shared = shared.map { Bytes(rebasing: $0[..<$0.sharedPrefix(with: key)]) } ?? key
        }
        guard let shared else { return }
        keys.withBytes { list in
            let first = last(notAfter: shared) ?? 0
            var left = max(1, end(of: shared, list) - first)
            for index in lookups.indices where isWanted(lookups[index]) { lookups[index].place = first }
            while left > 1 {
                let half = left / 2
                for index in lookups.indices where isWanted(lookups[index]) {
                    let place = lookups[index].place
                    let isAfter = isAfter(place + half, lookups[index].key, skipping: shared.count, list)
                    lookups[index].place = isAfter ? place : place + half
                }
                left -= half
            }
        }
    }

    /// The first key that neither begins with a prefix nor comes before it.
    private func end(of prefix: Bytes, _ keys: Bytes) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            let start = Bytes(rebasing: key(middle, of: keys).prefix(prefix.count))
            if start.compare(prefix) <= 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a key of the list is after another one that begins like it.
    @inline(__always)
    private func isAfter(_ place: Int, _ other: Bytes, skipping shared: Int, _ keys: Bytes) -> Bool {
        let key = key(place, of: keys)
        if min(key.count, other.count) >= shared + 8 {
            let mine = key.loadUnaligned(fromByteOffset: shared, as: UInt64.self)
            let theirs = other.loadUnaligned(fromByteOffset: shared, as: UInt64.self)
            if mine != theirs { return mine.bigEndian > theirs.bigEndian }
        }
        return key.compare(other) > 0
    }

    /// Compares a key of the list with another.
    func compare(_ place: Int, _ key: Bytes) -> Int {
        keys.withBytes { self.key(place, of: $0).compare(key) }
    }

    private func key(_ place: Int, of keys: Bytes) -> Bytes {
        Bytes(rebasing: keys[(place == 0 ? 0 : Int(ends[place - 1]))..<Int(ends[place])])
    }
}
