// A moving window over a file: reads large pieces and serves requests from memory. Nothing is memory-mapped, so a
// failing disk causes an error and not a crash.

package final class FileWindow {
    package let file: any ReadableFile
    package let name: String
    /// Bytes from here on are ignored, whatever the file holds.
    @exclusivity(unchecked) package var limit: UInt64
    private let buffer: UnsafeMutableRawBufferPointer
    private var large: ByteBuffer?
    // Unchecked for the same reason as in `ByteBuffer`.
    @exclusivity(unchecked) private var start: UInt64 = 0
    @exclusivity(unchecked) private var loaded = 0

    package init(_ file: any ReadableFile, name: String, limit: UInt64 = .max, capacity: Int = 1 << 18) {
        self.file = file
        self.name = name
        self.limit = limit
        buffer = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        buffer.deallocate()
    }

    /// Returns up to `length` bytes at `offset`, fewer if the file or the limit ends; valid until the next call.
    package func bytes(at offset: UInt64, _ length: Int) throws(LogError) -> UnsafeRawBufferPointer {
        let wanted = offset >= limit ? 0 : Int(min(UInt64(length), limit - offset))
        guard wanted <= buffer.count else { return try readLarge(at: offset, wanted) }
        if offset < start || offset + UInt64(wanted) > start + UInt64(loaded) {
            try load(at: offset)
        }
        let from = Int(offset - start)
        return UnsafeRawBufferPointer(rebasing: buffer[from..<max(from, min(from + wanted, loaded))])
    }

    /// Discards the bytes read, because the file may have changed.
    package func invalidate() {
        loaded = 0
    }

    private func load(at offset: UInt64) throws(LogError) {
        var kept = 0
        if offset >= start && offset < start + UInt64(loaded) {
            let from = Int(offset - start)
            kept = loaded - from
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[from..<loaded]))
        }
        start = offset
        loaded = kept
        let capacity = offset >= limit ? 0 : Int(min(UInt64(buffer.count), limit - offset))
        loaded += try read(
            UnsafeMutableRawBufferPointer(rebasing: buffer[kept..<max(kept, capacity)]), at: offset + UInt64(kept))
    }

    private func readLarge(at offset: UInt64, _ length: Int) throws(LogError) -> UnsafeRawBufferPointer {
        let large = self.large ?? ByteBuffer(capacity: length)
        self.large = large
        large.truncate(to: 0)
        let room = large.room(length)
        return UnsafeRawBufferPointer(rebasing: room[..<(try read(room, at: offset))])
    }

    private func read(_ room: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int {
        do throws(StorageError) {
            return try file.readFully(into: room, at: offset)
        } catch {
            throw LogError(error)
        }
    }
}

extension ReadableFile {
    /// Reads until the buffer is full or the file ends; returns the number of bytes read.
    package func readFully(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
        var count = 0
        while count < buffer.count {
            let place = offset + UInt64(count)
            let more: Int
            do throws(StorageError) {
                more = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), at: place)
            } catch {
                throw error.at(place)
            }
            if more == 0 { break }
            count += more
        }
        return count
    }

    /// Returns up to `length` bytes at an offset, fewer if the file ends.
    package func bytes(_ length: Int, at offset: UInt64 = 0) throws(StorageError) -> ByteBuffer {
        let buffer = ByteBuffer(capacity: length)
        buffer.advance(by: try readFully(into: buffer.room(length), at: offset))
        return buffer
    }

    /// Calls `body` with pieces of the bytes from `start` to `end`, in order, and their offsets; fewer if the file ends.
    package func forEachPiece(
        from start: UInt64, to end: UInt64, _ body: (UnsafeRawBufferPointer, UInt64) throws(StorageError) -> Void
    ) throws(StorageError) {
        let length: UInt64 = 1 << 16
        let piece = ByteBuffer(capacity: Int(length))
        var offset = start
        while offset < end {
            let room = piece.room(Int(min(length, end - offset)))
            let count = try readFully(into: room, at: offset)
            if count == 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: room[..<count]), offset)
            offset += UInt64(count)
        }
    }
}

extension WritableFile {
    /// Writes all of the bytes, in as many calls as necessary.
    package func writeFully(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
        var count = 0
        while count < bytes.count {
            let place = offset + UInt64(count)
            do throws(StorageError) {
                count += try write(UnsafeRawBufferPointer(rebasing: bytes[count...]), at: place)
            } catch {
                throw error.at(place)
            }
        }
    }
}

extension StorageError {
    fileprivate func at(_ offset: UInt64) -> StorageError {
        var error = self
        error.offset = offset
        return error
    }
}
