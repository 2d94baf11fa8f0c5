// Every byte of a frame with the name that docs/FORMAT.md gives it, and in a checkpoint docs/STATE.md. Pure: it reads no file.
// Fields lie side by side: each byte of the frame, and each byte of its decoded payload, is in exactly one, whatever the
// bytes are.

import SegmentLog
import SynclineCore
import SynclineGround

struct FrameBytes {
    /// What the frames before a frame say.
    struct Before {
        /// The chain value that it has to carry; nil if that is not known.
        var chain: UInt32?
        /// How many bytes a record that began in earlier frames still has.
        var pending = 0
    }

    private(set) var fields: [FrameField] = []
    /// The decoded payload; nil if the frame does not verify.
    private(set) var payload: [UInt8]?
    private(set) var header: FrameHeader?
    /// How many bytes the record that the last of its bytes belong to still has.
    private(set) var pending = 0
    private var first: UInt64 = 0

    /// - Parameter content: What the block is; nil for a frame of a segment.
    init(_ frame: [UInt8], seed: UInt32, after before: Before = Before(), as content: BlockContent? = nil) {
        var walk = FieldWalk(.frame, frame[...])
        header = frame.count < 40 ? nil : frame.withBytes { try? FrameHeader($0, seed: seed) }
        addHeader(&walk, seed: seed, chain: before.chain)
        let stored = frame.count < 12 ? 0 : frame.withBytes { Int($0.number(UInt32.self, at: 8)) }
        let length = FrameHeader.frameLength(stored: min(stored, 1 << 30))
        var body: ArraySlice<UInt8>?
        if length <= frame.count {
            body = frame[40..<(40 + stored)]
            walk.add("stored payload", stored, isRight: header.map { frame.checksum(40, stored) == $0.payloadChecksum })
            let padding = length - 8 - 40 - stored
            if padding > 0 {
                walk.add("padding", padding, isRight: frame[(40 + stored)..<(length - 8)].allSatisfy { $0 == 0 })
            }
            let magic = frame.withBytes { $0.number(UInt32.self, at: length - 8) }
            walk.add("trailer magic", 4, isRight: magic == Format.trailerMagic)
            let end = frame.withBytes { $0.number(UInt32.self, at: length - 4) }
            walk.add("length of the whole frame", 4, "\(end)", isRight: Int(end) == length)
        }
        walk.addRest("bytes of no frame", isRight: false)
        fields = walk.fields
        guard let header, let body, !fields.contains(where: { $0.isRight == false }),
            let decoded = Array(body).withBytes({ PayloadDecoder.decoded(header, stored: $0) })
        else { return }
        let raw = Array(decoded.bytes)
        payload = raw
        var inner = FieldWalk(.payload, raw[...])
        addPayload(&inner, header, pending: before.pending, content)
        inner.addRest("bytes without meaning")
        fields += inner.fields
    }

    // MARK: The header

    private func addHeader(_ walk: inout FieldWalk, seed: UInt32, chain: UInt32?) {
        let bytes = walk.bytes
        let isWhole = bytes.count >= 40
        let computed = isWhole ? Array(bytes).checksum(8, 32, continuing: seed) : nil
        walk.add("magic", 4, isRight: walk.peek(4) == UInt64(Format.frameMagic))
        walk.add(
            "header checksum", 4, Hexadecimal.text(walk.peek(4), digits: 8),
            isRight: computed.map { walk.peek(4) == UInt64($0) })
        walk.add("stored length", 4, "\(walk.peek(4))", isRight: walk.peek(4) <= UInt64(Format.frameStoredLimit))
        walk.add("raw length", 4, "\(walk.peek(4))", isRight: walk.peek(4) <= UInt64(Format.frameRawLimit))
        walk.add("first record", 8, "@\(walk.peek(8))", isRight: walk.peek(8) > 0)
        walk.add("durable lag", 4, "\(walk.peek(4))")
        walk.add("record count", 2, "\(walk.peek(2))")
        let kind = UInt8(walk.peek(1))
        walk.add(
            "kind", 1,
            FrameKind(rawValue: kind).map { "\(kind) \($0)" } ?? (kind == FrameKind.filler ? "128 filler" : "\(kind)"))
        walk.add("flags", 1, FrameBytes.text(FrameFlags(rawValue: UInt8(walk.peek(1)))))
        walk.add("payload checksum", 4, Hexadecimal.text(walk.peek(4), digits: 8))
        walk.add(
            "chain", 4, Hexadecimal.text(walk.peek(4), digits: 8), isRight: chain.map { walk.peek(4) == UInt64($0) })
    }

    private static func text(_ flags: FrameFlags) -> String {
        let named: [(FrameFlags, String)] = [
            (.continuesFromPrevious, "continues the one before"), (.continuesInNext, "continues in the next"),
            (.masked, "masked"),
            (.encrypted, "encrypted"), (.reserved, "reserved"),
        ]
        let codec = Codec(rawValue: flags.codec).map { "\($0)" } ?? "codec \(flags.codec)"
        return ([codec] + named.filter { flags.contains($0.0) }.map(\.1)).joined(separator: ", ")
    }

    // MARK: The payload

    private mutating func addPayload(
        _ walk: inout FieldWalk, _ header: FrameHeader, pending before: Int, _ content: BlockContent?
    ) {
        pending = before
        first = header.firstSequence.rawValue
        switch header.knownKind {
        case .data?: addRecords(&walk, Int(header.recordCount), pending: before)
        case .fragment?: addFragment(&walk, pending: before)
        case .session?:
            walk.add("epoch", 4, "\(walk.peek(4))")
            walk.add("zero", 4, isRight: walk.peek(4) == 0)
            walk.addTime("time")
            for name in ["segment of a torn tail", "offset of a torn tail", "bytes cut"] {
                walk.add(name, 8, "\(walk.peek(8))")
            }
        case .index?: FrameBytes.addIndex(&walk, isOfState: content != nil)
        case .seal?:
            walk.add("offset of the index", 8, "\(walk.peek(8))")
            walk.add("last record", 8, "@\(walk.peek(8))")
            walk.add("number of records", 8, "\(walk.peek(8))")
            walk.addTime("time of the first data frame")
            walk.addTime("time of the last data frame")
        case .hole?:
            walk.add("mode", 1, "\(walk.peek(1))")
            walk.add("chain of the next frame", 4, Hexadecimal.text(walk.peek(4), digits: 8))
            walk.addVarint("number of records lost")
            walk.addRest("5a to the end", isRight: walk.bytes.allSatisfy { $0 == 0x5a })
        case .block?: walk.addBlock(content ?? BlockContent())
        case nil: walk.addRest(header.kind == FrameKind.filler ? "filler" : "unknown payload")
        }
    }

    private mutating func addRecords(_ walk: inout FieldWalk, _ count: Int, pending before: Int) {
        walk.addTime("time")
        for index in 0..<count {
            let number = first + UInt64(index)
            if index == 0, before > 0 {
                walk.add("end of record @\(number)", before)
                continue
            }
            guard !walk.bytes.isEmpty else { break }
            let length = walk.addVarint("length of record @\(number)")
            let record = Array(walk.bytes.prefix(Int(clamping: length)))
            walk.add("record @\(number)", Int(clamping: length), FrameBytes.text(record, number))
        }
        pending = 0
    }

    private mutating func addFragment(_ walk: inout FieldWalk, pending before: Int) {
        var left = before
        if left == 0 { left = Int(clamping: walk.addVarint("length of record @\(first)")) }
        pending = max(0, left - walk.bytes.count)
        walk.addRest("part of record @\(first)")
    }

    /// The event in a record, or its text.
    static func text(_ record: [UInt8], _ number: UInt64) -> String {
        if let event = record.withBytes({ try? Event($0) }) {
            return "\(event.cause): \(EventSummary(number: number, event: event).line)"
        }
        return String(validating: record, as: UTF8.self) ?? ""
    }

    private static func addIndex(_ walk: inout FieldWalk, isOfState: Bool) {
        walk.add("header sum", 4, Hexadecimal.text(walk.peek(4), digits: 8))
        walk.addVarint("number of frames")
        let entries = walk.addVarint("number of entries")
        var index: UInt64 = 0
        while index < entries, !walk.bytes.isEmpty {
            for name in ["offset", "first record", "time"] {
                walk.addVarint("\(name) of entry \(index + 1), the difference")
            }
            index += 1
        }
        let hasNote = walk.peek(1) == 1
        walk.add("note", 1, hasNote ? "follows" : "none")
        guard hasNote else { return }
        walk.addVarint("record of the note")
        let length = walk.addVarint("length of the note")
        if isOfState { walk.addStateNote() }
        walk.add("bytes of the note", Int(clamping: length))
    }
}

extension [UInt8] {
    func checksum(_ offset: Int, _ count: Int, continuing seed: UInt32 = 0) -> UInt32 {
        withBytes { crc32c(UnsafeRawBufferPointer(rebasing: $0[offset..<(offset + count)]), continuing: seed) }
    }
}
