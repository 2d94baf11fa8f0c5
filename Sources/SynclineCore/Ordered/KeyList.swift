// Sorted keys that are searched in memory: the first of each block of a run.

import SynclineGround

/// Sorted keys, stored one after another.
struct KeyList {
    private var keys: [UInt8] = []
    /// Where each of them begins, and where the last one ends.
    private var starts: [UInt32] = [0]

    mutating func append(_ key: Bytes) {
        keys.append(contentsOf: key)
        starts.append(UInt32(truncatingIfNeeded: keys.count))
    }

    /// Returns the last key that is not after another; nil if all are after it.
    func last(notAfter key: Bytes) -> Int? {
        keys.withBytes { keys in
            var low = 0
            var high = starts.count - 1
            while low < high {
                let middle = (low + high) / 2
                if self.key(middle, of: keys).compare(key) <= 0 { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? nil : low - 1
        }
    }

    /// Finds the same for several keys, or 0 if all are after one. Each step is made for all of them before the next one: so
    /// the processor need not wait for what one of them reads, and guesses nothing.
    /// - Parameter run: The run of the keys that are searched for.
    func findPlaces(of lookups: KeyLookups, inRun run: Int) {
        // Mostly they begin alike, as the keys of one table do. Among such keys the eight bytes that follow decide.
        var shared: Bytes?
        for index in lookups.indices where lookups[index].run == run {
            let key = lookups[index].key
            shared = shared.map { Bytes(rebasing: $0[..<$0.sharedPrefix(with: key)]) } ?? key
        }
        guard let shared else { return }
        keys.withBytes { list in
            let first = last(notAfter: shared) ?? 0
            var left = max(1, end(of: shared, list) - first)
            for index in lookups.indices where lookups[index].run == run {
                lookups[index].place = first
                lookups[index].head = lookups[index].key.head(at: shared.count)
            }
            starts.withUnsafeBufferPointer { starts in
                while left > 1 {
                    let half = left / 2
                    for index in lookups.indices where lookups[index].run == run {
                        let middle = lookups[index].place &+ half
                        let start = Int(starts[middle])
                        let key = list.slice(start, Int(starts[middle &+ 1]) &- start)
                        let (head, wanted) = (key.head(at: shared.count), lookups[index].head)
                        let isAfter = head == wanted ? key.compare(lookups[index].key) > 0 : head > wanted
                        lookups[index].place = isAfter ? middle &- half : middle
                    }
                    left -= half
                }
            }
        }
    }

    /// The first key that neither begins with a prefix nor comes before it.
    private func end(of prefix: Bytes, _ keys: Bytes) -> Int {
        var (low, high) = (0, starts.count - 1)
        while low < high {
            let middle = (low + high) / 2
            let start = Bytes(rebasing: key(middle, of: keys).prefix(prefix.count))
            if start.compare(prefix) <= 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func key(_ place: Int, of keys: Bytes) -> Bytes {
        Bytes(rebasing: keys[Int(starts[place])..<Int(starts[place + 1])])
    }
}
