// The page about the files of the log: segments, checkpoints and small files, the frames of one of them, the bytes of a
// frame or of a small file, and the sizes of events.

import SegmentLog
import Syncline
import SynclineGround

extension StudioData {
    // MARK: Files

    /// All files of the log, with their sizes and what is wrong with them.
    func files() throws -> JSONValue {
        let inspection = LogInspection(storage)
        let catalog = try inspection.catalog()
        let damage = catalog.damage + events.damage.filter { !catalog.damage.contains($0) }
        let segments = try catalog.segments.map { segment -> JSONValue in
            let end = try inspection.end(of: segment)
            let own = damage.filter { $0.file == segment.name }
            return [
                "name": .string("s\(segment.ordinal)"), "file": .string(segment.name), "size": .number(segment.size),
                "used": .number(end), "sealed": .boolean(try isSealed(segment, catalog.identity)),
                "first": .number(segment.first.rawValue),
                "created": segment.header.map { .number($0.created.rawValue) } ?? .null,
                "damage": .array(own.map(StudioData.json)),
            ]
        }
        return [
            "segments": .array(segments),
            "checkpoints": .array(catalog.checkpoints.map { checkpoint($0, catalog.identity) }),
            "others": .array(smallFiles.map { ["name": .string($0), "size": .number(storage.size(of: $0))] }),
            "quarantine": .array(
                ((try? storage.names(in: FileName.quarantine)) ?? []).sorted().map { name in
                    let size = storage.size(of: FileName.quarantine + "/" + name)
                    return ["file": .string(name), "size": .number(size)]
                }),
        ]
    }

    /// The files whose bytes have names and that have no frames.
    private var smallFiles: [String] {
        let folders = [FileName.leases, FileName.tributaries]
        let names = folders.flatMap { folder in ((try? storage.names(in: folder)) ?? []).map { folder + "/" + $0 } }
        return (((try? storage.names(in: "")) ?? []) + names).filter(Address.isSmallFile).sorted()
    }

    private static func json(_ damage: LogDamage) -> JSONValue {
        damage.json.adding(["offset": damage.position.map { .number($0.offset) } ?? .null])
    }

    private func isSealed(_ segment: LogCatalog.Segment, _ identity: LogIdentity) throws -> Bool {
        let file = try storage.reading(segment.name)
        defer { file.close() }
        let window = FileWindow(file, name: segment.name)
        return try SegmentIndex(window, seed: identity.seed, end: segment.reach) != nil
    }

    private func checkpoint(_ through: SequenceNumber, _ identity: LogIdentity) -> JSONValue {
        let found = try? Checkpoint.openIfSound(storage, through: through, identity: identity)
        let size = found?.size ?? storage.size(of: FileName.checkpoint(through: through))
        return [
            "name": .string("c\(through.rawValue)"), "file": .string(FileName.checkpoint(through: through)),
            "through": .number(through.rawValue), "size": .number(size), "whole": .boolean(found != nil),
            "runs": .array(
                CheckpointReading.runs(found?.note ?? []).map { run in
                    [
                        "name": .string("c\(run.file)"), "entries": .number(run.root.count),
                        "bytes": .number(run.root.size),
                    ]
                }),
        ]
    }

    // MARK: Sizes

    /// The bytes of events by kind and table, and what was written since the store was opened.
    func sizes() throws -> JSONValue {
        let through = try states.last
        if let known = countedSizes.withLock({ $0 }), known.through == through { return known.json }
        let json: JSONValue = try HistoryReading.run(storage) {
            let counts = try EventCounts(byTable: storage) { _ in }
            let written = try WrittenBytes(storage, since: counts.lastOpening)
            return ["groups": .array(counts.groups.map(\.json)), "written": written.json]
        }
        countedSizes.withLock { $0 = (through, json) }
        return json
    }

    // MARK: Frames

    /// A part of the frames of a file: the one that holds the byte at `offset`, or those after `skip` others.
    func frames(of name: String, skip: Int?, holding offset: UInt64?, top: Int) throws -> JSONValue {
        let inspection = LogInspection(storage)
        var frames = StudioFrames(skip: skip, holding: offset, top: top)
        switch Address(name) {
        case .checkpoint(let through, _)?:
            let catalog = try inspection.catalog()
            guard catalog.checkpoints.contains(through) else { throw ToolError.usage("there is no such checkpoint") }
            let checkpoint = try CheckpointReading(inspection, catalog.identity, through: through)
            try checkpoint.frames { start, length, header in
                frames.add(start, length) {
                    guard let header else { return ["damage": checkpoint.damage(start, length).json] }
                    let frame = CheckpointFrame(header, at: start, in: checkpoint)
                    return frame.entry.json(frame)
                }
                return true
            }
        case .segment(let ordinal)?:
            guard try inspection.catalog().segments.contains(where: { $0.ordinal == ordinal }) else {
                throw ToolError.usage("there is no such segment")
            }
            try inspection.frames(FrameSelection(segment: ordinal)) { found in
                switch found {
                case .item(let entry):
                    let place = entry.summary.position
                    frames.add(place.offset, entry.summary.length.rawValue) { entry.json() }
                case .damage(let damage):
                    guard let place = damage.position else { return }
                    frames.add(place.offset, damage.length.rawValue) { ["damage": damage.json] }
                }
            }
        default: throw ToolError.usage("a segment or a checkpoint is needed")
        }
        return [
            "name": .string(name), "skip": .number(frames.skip), "count": .number(frames.count),
            "frames": .array(frames.shown),
        ]
    }

    // MARK: Bytes

    /// A part of the fields of the frame or header at an address: those with the wanted record, or those after `skip`.
    func bytes(at text: String, skip: Int?, top: Int) throws -> JSONValue {
        guard let address = Address(text) else { throw ToolError.usage("`\(escaped(text))` is not a valid address") }
        guard let found = try FrameReading(LogInspection(storage), address) else {
            return ["address": .null, "count": .number(0), "skip": .number(0), "fields": []]
        }
        var skip = skip ?? 0
        if case .records(.number(let number))? = Address(text), skip == 0 {
            let place = found.fields.firstIndex { $0.name.hasSuffix("record @\(number.rawValue)") }
            skip = (place ?? 0) / top * top
        }
        return [
            "address": .string(found.address), "count": .number(found.fields.count), "skip": .number(skip),
            "wrong": .number(found.fields.count { $0.isRight == false }),
            "fields": .array(found.fields.dropFirst(skip).prefix(top).map(StudioData.json)),
        ]
    }

    /// A field with its first bytes and the beginning of a long value.
    private static func json(_ field: FrameField) -> JSONValue {
        var shown = field
        shown.bytes = field.bytes.prefix(512)
        if field.value.utf8.count > 4000 { shown.value = String(field.value.prefix(4000)) + "…" }
        return shown.json(showsBytes: true).adding(["length": .number(field.bytes.count)])
    }
}

/// Keeps the wanted part of a list of frames.
struct StudioFrames {
    private(set) var skip: Int
    private(set) var count = 0
    private(set) var shown: [JSONValue] = []
    private let offset: UInt64?
    private let top: Int
    /// Whether the part with the wanted byte was found.
    private var isFound: Bool

    init(skip: Int?, holding offset: UInt64?, top: Int) {
        (self.skip, self.offset, self.top) = (skip ?? 0, offset, top)
        isFound = skip != nil || offset == nil
    }

    mutating func add(_ start: UInt64, _ length: UInt64, _ json: () -> JSONValue) {
        // The part with the byte is not known before; each part replaces the one before it until then.
        if !isFound, count > 0, count % top == 0 { (skip, shown) = (count, []) }
        if count >= skip, shown.count < top {
            shown.append(json().adding(["offset": .number(start), "length": .number(length)]))
        }
        if let offset, !isFound, start + length > offset { isFound = true }
        count += 1
    }
}
