// Checks whether the bytes at a position are the expected frame. The check is pure: bytes and an expectation in, a
// verdict out. Nothing is decompressed before its checksum is verified, and nothing is allocated.

import SynclineGround

/// What the next frame must match.
package struct FrameExpectation: Hashable, Sendable {
    /// The header checksum of the frame before; nil directly after damage, where any value is accepted.
    package var chain: UInt32?
    /// The next record's number; nil directly after damage.
    package var sequence: SequenceNumber?
    /// Whether the frame must continue an open transaction.
    package var inTransaction = false
}

/// Why the bytes are not the expected frame.
package enum FrameFault: Error, Hashable, Sendable {
    /// The file ends here.
    case endOfFile
    /// The file ends inside the frame.
    case cutOff
    case notAFrame
    case headerChecksum
    /// The header's checksum is correct but its fields are not valid.
    case malformed
    case chain
    case sequence
    case transaction
    case payloadChecksum
    case padding
    case trailer
    /// The frame is intact, but its contents are not valid.
    case unreadable
    /// The frame is intact, but its records can't be read.
    case records(RecordFault)
    case unknownKind(UInt8)
    case unknownCodec(UInt8)

    /// The reason as part of a sentence, for reports.
    package var reason: String {
        switch self {
        case .endOfFile: "the file ends"
        case .cutOff: "the file ends inside the frame"
        case .notAFrame: "no frame starts here"
        case .headerChecksum: "the header's checksum is wrong"
        case .malformed: "the header is not valid"
        case .chain: "the frame does not follow the one before it"
        case .sequence: "the frame's first record is not the one expected"
        case .transaction: "the frame does not belong to the transaction around it"
        case .payloadChecksum: "the payload's checksum is wrong"
        case .padding: "the padding is not zero"
        case .trailer: "the trailer is wrong"
        case .unreadable: "the payload can't be read"
        case .records(let fault): fault.reason
        case .unknownKind(let kind): "frame kind \(kind) is not known to this version"
        case .unknownCodec(let codec): "codec \(codec) is not known to this version"
        }
    }

    package var isNewer: Bool {
        switch self {
        case .unknownKind, .unknownCodec: true
        default: false
        }
    }
}

package enum FrameCheck {
    /// Returns the header at the start of `bytes` if it matches the expectation. Does not look at the payload.
    package static func header(
        _ bytes: UnsafeRawBufferPointer, seed: UInt32, expecting expected: FrameExpectation
    ) -> Result<FrameHeader, FrameFault> {
        if bytes.count == 0 { return .failure(.endOfFile) }
        if bytes.count < Format.frameOverhead { return .failure(.cutOff) }
        let header: FrameHeader
        do throws(FrameHeader.Refusal) {
            header = try FrameHeader(bytes, seed: seed)
        } catch {
            return .failure(error == .wrongMagic ? .notAFrame : .headerChecksum)
        }
        if let fault = fault(of: header, expecting: expected) { return .failure(fault) }
        return .success(header)
    }

    private static func fault(of header: FrameHeader, expecting expected: FrameExpectation) -> FrameFault? {
        guard header.rawLength <= Format.frameRawLimit, header.storedLength <= Format.frameStoredLimit,
            header.flags.isDisjoint(with: .reserved), header.firstSequence.rawValue > 0,
            header.firstSequence.rawValue <= .max - UInt64(header.recordCount)
        else { return .malformed }
        if let chain = expected.chain, header.chain != chain { return .chain }
        if let sequence = expected.sequence, header.firstSequence != sequence { return .sequence }
        if header.flags.contains(.encrypted) { return .unknownCodec(header.flags.codec) }
        if let kind = header.knownKind {
            if let fault = fault(of: header, as: kind) { return fault }
        } else {
            guard header.kind >= FrameKind.ignorable, header.recordCount == 0 else { return .unknownKind(header.kind) }
            guard header.flags.isDisjoint(with: [.continuesInNext, .continuesFromPrevious]) else { return .malformed }
        }
        let continues = header.flags.contains(.continuesFromPrevious)
        if expected.chain != nil && continues != expected.inTransaction {
            return .transaction
        }
        return nil
    }

    private static func fault(of header: FrameHeader, as kind: FrameKind) -> FrameFault? {
        guard let codec = header.codec else { return .unknownCodec(header.flags.codec) }
        guard codec != .stored || header.rawLength == header.storedLength else { return .malformed }
        let opens = header.flags.contains(.continuesInNext)
        let continues = header.flags.contains(.continuesFromPrevious)
        switch kind {
        case .data:
            guard header.recordCount > 0 else { return .malformed }
        case .fragment:
            guard header.recordCount == 0, opens else { return .malformed }
        case .hole:
            // A hole is read without a decoder, so that readers can step over damage with headers alone.
            guard header.recordCount == 0, !opens, !continues, codec == .stored,
                header.flags.isDisjoint(with: .masked)
            else { return .malformed }
        default:
            guard header.recordCount == 0, !opens, !continues else { return .malformed }
        }
        return nil
    }

    /// Checks the rest of a frame with a valid header: payload, padding and trailer. `bytes` starts at the header.
    package static func body(_ bytes: UnsafeRawBufferPointer, of header: FrameHeader) -> FrameFault? {
        let length = header.frameLength
        guard bytes.count >= length else { return .cutOff }
        let stored = Int(header.storedLength)
        let payload = bytes.slice(Format.frameHeaderLength, stored)
        if crc32c(payload) != header.payloadChecksum { return .payloadChecksum }
        let padding = bytes.slice(Format.frameHeaderLength + stored, length - Format.frameOverhead - stored)
        if !padding.isAllZero { return .padding }
        let trailer = bytes.slice(length - 8, 8)
        let whole =
            trailer.number(UInt32.self, at: 0) == Format.trailerMagic
            && trailer.number(UInt32.self, at: 4) == UInt32(length)
        if !whole { return .trailer }
        return nil
    }

    /// Returns what must follow a valid frame.
    package static func expectation(after header: FrameHeader, hole: HolePayload? = nil) -> FrameExpectation {
        let records = hole?.recordCount ?? UInt64(header.recordCount)
        return FrameExpectation(
            chain: hole?.chainAfter ?? header.checksum,
            sequence: header.firstSequence.advanced(by: records),
            inTransaction: header.flags.contains(.continuesInNext))
    }
}
