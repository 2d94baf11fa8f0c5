// Reads one frame of a log or a checkpoint, the header of a file, or a small file, for `FrameBytes` and `FieldWalk`.

import SegmentLog

/// A frame, or damage in its place, with what the frames before it say.
struct FrameReading {
    /// Where it begins.
    private(set) var address: String
    private(set) var fields: [FrameField]

    /// Returns nil if there is none at the address.
    init?(_ inspection: LogInspection, _ address: Address?) throws {
        if case .file(let name)? = address {
            guard let found = try FrameReading.file(name, inspection) else { return nil }
            (self.address, fields) = (name, found)
            return
        }
        let catalog = try inspection.catalog()
        if case .checkpoint(let through, let offset)? = address {
            guard catalog.checkpoints.contains(through) else { return nil }
            let checkpoint = try CheckpointReading(inspection, catalog.identity, through: through)
            guard let found = try checkpoint.fields(at: offset) else { return nil }
            (self.address, fields) = ("c\(through.rawValue):\(found.start)", found.fields)
            return
        }
        if case .position(let place)? = address, place.offset < UInt64(Format.segmentHeaderLength) {
            guard let segment = catalog.segments.first(where: { $0.ordinal == place.segment }) else { return nil }
            let file = try inspection.storage.reading(segment.name)
            defer { file.close() }
            (self.address, fields) = ("s\(place.segment):0", try FrameReading.header(file, .segment))
            return
        }
        guard let place = try FrameReading.place(inspection, address) else { return nil }
        guard let segment = catalog.segments.first(where: { $0.ordinal == place.position.segment }) else { return nil }
        let file = try inspection.storage.reading(segment.name)
        defer { file.close() }
        let seed = catalog.identity.seed
        // A record may begin in fragments before the frame. None is left open by a frame of data.
        var chain = segment.header?.previousChain
        var last: (offset: UInt64, length: Int)?
        var fragments: [(offset: UInt64, length: Int)] = []
        try FrameReading.frames(inspection, FrameSelection(segment: place.position.segment)) {
            position, length, found in
            guard position.offset < place.position.offset else { return false }
            switch found {
            case .damage: (chain, last, fragments) = (nil, nil, [])
            case .item(let entry):
                last = (position.offset, length)
                if entry.summary.kind == .data { fragments = [] }
                if entry.summary.kind == .fragment { fragments.append((position.offset, length)) }
            }
            return true
        }
        func read(_ place: (offset: UInt64, length: Int), after before: FrameBytes.Before) throws -> FrameBytes {
            FrameBytes(try FrameReading.read(file, place.offset, place.length), seed: seed, after: before)
        }
        var before = FrameBytes.Before()
        for fragment in fragments { before.pending = try read(fragment, after: before).pending }
        before.chain = try last.map { try read($0, after: FrameBytes.Before()).header?.checksum } ?? chain
        self.address = place.position.description
        fields = try read((place.position.offset, place.length), after: before).fields
    }

    /// The fields of a small file; nil if it does not exist.
    private static func file(_ name: String, _ inspection: LogInspection) throws -> [FrameField]? {
        let file: any ReadableFile
        do throws(StorageError) {
            file = try inspection.storage.openForReading(name)
        } catch {
            if error.kind == .notFound { return nil }
            throw LogError(error)
        }
        defer { file.close() }
        // Of a large one the beginning.
        let buffer = try file.bytes(Int(clamping: min(try file.size(), 64 << 20)), at: 0)
        var walk = FieldWalk(.file, withExtendedLifetime(buffer) { Array(buffer.bytes) }[...])
        walk.addFile(name, try? inspection.catalog().identity)
        return walk.fields
    }

    /// The first 512 bytes of a file.
    static func header(_ file: any ReadableFile, _ role: SegmentHeader.Role) throws -> [FrameField] {
        var walk = FieldWalk(.header, try read(file, 0, Format.segmentHeaderLength)[...])
        walk.addHeader(of: role)
        return walk.fields
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
        _ body: (LogPosition, Int, Found<FrameEntry>) throws -> Bool
    ) throws {
        struct Stop: Error {}
        do {
            try inspection.frames(selection) { found in
                let (position, length) =
                    switch found {
                    case .item(let entry): (Optional(entry.summary.position), entry.summary.length)
                    case .damage(let damage): (damage.position, damage.length)
                    }
                guard let position else { return }
                let goesOn = try body(position, Int(clamping: length.rawValue), found)
                if !goesOn { throw Stop() }
            }
        } catch is Stop {}
    }

    /// Reads a part of a file, and of damage not more than a frame can have.
    static func read(_ file: any ReadableFile, _ offset: UInt64, _ length: Int) throws -> [UInt8] {
        let buffer = try file.bytes(min(length, FrameHeader.frameLength(stored: Format.frameStoredLimit)), at: offset)
        return withExtendedLifetime(buffer) { Array(buffer.bytes) }
    }
}
