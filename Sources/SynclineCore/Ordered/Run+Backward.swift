// A run's entries from larger keys to smaller ones. A block can be read only forward, so all entries of a part of it are
// found when the cursor enters that part.

import SynclineGround

extension Run {
    final class BackwardCursor: LayerCursor {
        private struct Entry {
            let start: Int
            let length: Int
            let value: Bytes?
            /// Where the value is among those of rows, if the block is in columns.
            var row: Range<Int>?
        }

        private let run: Run
        @exclusivity(unchecked) private var place: Int
        /// Retains the values.
        @exclusivity(unchecked) private var block: RunBlock
        @exclusivity(unchecked) private var part: Int
        /// The entries of the part that are left, and their whole keys.
        @exclusivity(unchecked) private var entries: [Entry] = []
        @exclusivity(unchecked) private var keys = ByteWriter(capacity: 1 << 10)
        /// The values of rows of a block in columns.
        @exclusivity(unchecked) private var values = ByteWriter(capacity: 1 << 10)

        /// Nil for a run without entries.
        init?(_ run: Run, before key: Bytes) throws(SyncError) {
            guard !run.isEmpty else { return nil }
            self.run = run
            place = run.place(of: key)
            block = try run.searchable(place)
            do throws(MalformedBytes) {
                part = block.columns == nil ? try block.part(of: key) : 0
            } catch {
                throw .malformed("a run's block")
            }
            super.init()
            try enter(before: key)
            try settle()
        }

        override func advance() throws(SyncError) {
            entries.removeLast()
            try settle()
        }

        private func settle() throws(SyncError) {
            while entries.isEmpty {
                if part == 0 {
                    guard place > 0 else { return end() }
                    place -= 1
                    block = try run.block(place)
                    part = block.parts
                }
                part -= 1
                try enter(before: nil)
            }
            guard let entry = entries.last else { return }
            show(
                keys.withView { Bytes(rebasing: $0[entry.start..<entry.start + entry.length]) },
                entry.row.map { Bytes(rebasing: values.inPlace[$0]) } ?? entry.value)
        }

        /// Finds the entries of the part, only those before a key if there is one.
        private func enter(before limit: Bytes?) throws(SyncError) {
            entries.removeAll(keepingCapacity: true)
            keys.removeAll()
            do throws(MalformedBytes) {
                if let columns = block.columnsInPlace { return try enter(columns, before: limit) }
                var cursor = try RunBlock.Cursor(block, atPart: part)
                let end = try block.end(ofPart: part)
                while cursor.isValid, cursor.start < end {
                    if let limit, cursor.key.compare(limit) >= 0 { return }
                    entries.append(Entry(start: keys.count, length: cursor.key.count, value: cursor.view?.plain))
                    keys.append(cursor.key)
                    try cursor.advance()
                }
            } catch {
                throw .malformed("a run's block")
            }
        }

        private func enter(_ columns: Unmanaged<ColumnBlock>, before limit: Bytes?) throws(MalformedBytes) {
            values.removeAll()
            let place = ColumnCursor(columns)
            while !place.isAtEnd {
                try place.show()
                if let limit, place.key.compare(limit) >= 0 { return }
                let (start, valueStart) = (keys.count, values.count)
                keys.append(place.key)
                let value = place.view?.plain
                if let value { values.append(value) }
                entries.append(
                    Entry(
                        start: start, length: keys.count - start, value: nil,
                        row: value.map { _ in valueStart..<values.count }))
                place.moveOn()
            }
        }
    }
}
