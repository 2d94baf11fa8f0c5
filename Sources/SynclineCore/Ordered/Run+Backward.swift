// A run's entries from larger keys to smaller ones. A block can be read only forward, so all of its entries are found
// when the cursor enters it.

import SynclineGround

extension Run {
    final class BackwardCursor: LayerCursor {
        private let run: Run
        @exclusivity(unchecked) private var place: Int
        @exclusivity(unchecked) private var entries: BlockEntries

        /// Nil for a run without entries.
        init?(_ run: Run, before key: Bytes) throws(StateError) {
            guard !run.isEmpty else { return nil }
            self.run = run
            place = run.place(of: key)
            entries = try BlockEntries(try run.block(place), before: key)
            super.init()
            try settle()
        }

        override func advance() throws(StateError) {
            entries.removeLast()
            try settle()
        }

        private func settle() throws(StateError) {
            while entries.isEmpty {
                guard place > 0 else { return end() }
                place -= 1
                entries = try BlockEntries(try run.block(place), before: nil)
            }
            if let (key, value) = entries.last { show(key, value) }
        }
    }

    /// The entries of a block, with whole keys.
    private final class BlockEntries {
        private struct Entry {
            let start: Int
            let length: Int
            let value: Bytes?
        }

        /// Retains the values.
        private let block: RunBlock
        private var keys = ByteWriter(capacity: 1 << 14)
        @exclusivity(unchecked) private var entries: [Entry] = []

        /// Only entries before a key, if there is one.
        init(_ block: RunBlock, before limit: Bytes?) throws(StateError) {
            self.block = block
            do throws(MalformedBytes) {
                var cursor = try RunBlock.Cursor(block, from: Bytes(start: nil, count: 0))
                while cursor.isValid {
                    if let limit, cursor.key.compare(limit) >= 0 { return }
                    entries.append(Entry(start: keys.count, length: cursor.key.count, value: cursor.value))
                    keys.append(cursor.key)
                    try cursor.advance()
                }
            } catch {
                throw .malformed("a run's block")
            }
        }

        var isEmpty: Bool { entries.isEmpty }

        /// Valid as long as these entries.
        var last: (key: Bytes, value: Bytes?)? {
            guard let entry = entries.last else { return nil }
            let key = keys.withView { Bytes(rebasing: $0[entry.start..<entry.start + entry.length]) }
            return (key, entry.value)
        }

        func removeLast() { entries.removeLast() }
    }
}
