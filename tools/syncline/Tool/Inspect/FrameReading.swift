// Reads one frame of a log for `FrameBytes`.

import SegmentLog

/// A frame of a log, or damage in its place, with what the frames before it say.
struct FrameReading {
    private(set) var bytes: FrameBytes

    /// Returns nil if there is none at the address.
    init?(_ inspection: LogInspection, _ address: Address?) throws {
        guard let place = try FrameReading.place(inspection, address) else { return nil }
        let catalog = try inspection.catalog()
        guard let segment = catalog.segments.first(where: { $0.ordinal == place.position.segment }) else { return nil }
        let file = try inspection.storage.reading(segment.name)
        defer { file.close() }
        let seed = catalog.identity.seed
        var before = FrameBytes.Before(chain: segment.header?.previousChain)
        // The frames before it in its segment: a record may begin in one of them.
        try FrameReading.frames(inspection, FrameSelection(segment: place.position.segment)) {
            position, length, isDamage in
            guard position.offset < place.position.offset else { return false }
            if isDamage {
                before = FrameBytes.Before()
            } else {
                let frame = FrameBytes(try FrameReading.read(file, position.offset, length), seed: seed, after: before)
                before = FrameBytes.Before(chain: frame.header?.checksum, pending: frame.pending)
            }
            return true
        }
        bytes = FrameBytes(try FrameReading.read(file, place.position.offset, place.length), seed: seed, after: before)
    }

    private static func place(
        _ inspection: LogInspection, _ address: Address?
    ) throws -> (position: LogPosition, length: Int)? {
        var place: (LogPosition, Int)?
        try frames(inspection, FrameSelection(at: address)) { position, length, _ in
            place = (position, length)
            return false
        }
        return place
    }

    private static func frames(
        _ inspection: LogInspection, _ selection: FrameSelection,
        _ body: (LogPosition, Int, _ isDamage: Bool) throws -> Bool
    ) throws {
        struct Found: Error {}
        do {
            try inspection.frames(selection) { found in
                let goesOn =
                    switch found {
                    case .item(let entry):
                        try body(entry.summary.position, Int(clamping: entry.summary.length.rawValue), false)
                    case .damage(let damage):
                        try damage.position.map { try body($0, Int(clamping: damage.length.rawValue), true) } ?? true
                    }
                if !goesOn { throw Found() }
            }
        } catch is Found {}
    }

    /// Reads a part of a file, and of damage not more than a frame can have.
    private static func read(_ file: any ReadableFile, _ offset: UInt64, _ length: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(length, FrameHeader.frameLength(stored: Format.frameStoredLimit)))
        let count = try bytes.withUnsafeMutableBytes { memory in
            var count = 0
            while count < memory.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
                let read = try file.read(into: rest, at: offset + UInt64(count))
                if read == 0 { break }
                count += read
            }
            return count
        }
        return Array(bytes.prefix(count))
    }
}
