// Keeps what recovery truncates or takes out. Nothing reads these files automatically; the oldest of what was truncated
// are removed if there are too many.

package struct Quarantine {
    private let storage: any LogStorage
    private let limit: Int

    package init(_ storage: any LogStorage, limit: Int) {
        self.storage = storage
        self.limit = limit
    }

    /// Copies a file's bytes from `position` to its last byte that is not zero, durably; returns their number.
    package func keep(
        _ file: any ReadableFile, from position: LogPosition, to end: UInt64 = .max, epoch: UInt32
    ) throws(StorageError) -> UInt64 {
        let length = try lengthWithoutTrailingZeros(file, from: position.offset, to: min(end, try file.size()))
if Breakage.tailNotQuarantined.isActive { return length }
        try storage.createDirectory(FileName.quarantine)
        let copy = try storage.openForWriting(FileName.quarantined(position, epoch: epoch), create: true)
        defer { copy.close() }
        try copy.resize(to: 0)
        let start = position.offset
        try file.forEachPiece(from: start, to: start + length) { bytes, offset throws(StorageError) in
            try copy.writeFully(bytes, at: offset - start)
        }
if !Breakage.quarantineNotSynced.isActive { try copy.sync(.durable) }
        try storage.syncDirectory(FileName.quarantine)
        try storage.syncDirectory("")
        try dropOldest()
        return length
    }

    /// Moves files here. A name that is taken gets a number.
    package func take(_ names: [String]) throws(StorageError) {
        if names.isEmpty { return }
        try storage.createDirectory(FileName.quarantine)
        let taken = try storage.names(in: FileName.quarantine)
        for name in names {
            let plain = name.split(separator: "/").last.map(String.init) ?? name
            var kept = plain
            var count = 1
            while taken.contains(kept) {
                count += 1
                kept = "\(plain).\(count)"
            }
            try storage.rename(name, to: "\(FileName.quarantine)/\(kept)")
        }
        try storage.syncDirectory(FileName.quarantine)
        try storage.syncDirectory("")
    }

    private func lengthWithoutTrailingZeros(
        _ file: any ReadableFile, from start: UInt64, to end: UInt64
    ) throws(StorageError) -> UInt64 {
        var length: UInt64 = 0
        try file.forEachPiece(from: start, to: end) { bytes, offset in
            if let last = bytes.lastIndex(where: { $0 != 0 }) { length = offset - start + UInt64(last) + 1 }
        }
        return length
    }

    /// Tails are named by the epoch that truncated them, which only grows.
    private func dropOldest() throws(StorageError) {
        func epoch(_ name: String) -> UInt32 {
            name.split(separator: "-").last.flatMap { UInt32($0.dropFirst().prefix { $0.isNumber }) } ?? .max
        }
        let tails = try storage.names(in: FileName.quarantine).filter { $0.hasSuffix(".tail") }
        for name in tails.sorted(by: { (epoch($0), $0) < (epoch($1), $1) }).dropLast(limit) {
            try storage.remove("\(FileName.quarantine)/\(name)")
        }
    }
}
