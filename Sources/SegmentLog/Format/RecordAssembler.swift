// Assembles the records of a data frame, including the fragments before it. All readers of records use this, so all
// report the same about unreadable ones. The code is pure: it takes a frame, and returns nothing yet, its records, or
// the reason why they can't be read.

import SynclineGround

/// Why the records of an intact data frame can't be read.
package enum RecordFault: Error, Hashable, Sendable {
    case undecodable
    case tooShort
    case misfit
    case tooLarge
    case unfinished

    /// The reason as part of a sentence, for reports.
    package var reason: String {
        switch self {
        case .undecodable: "the payload does not decompress"
        case .tooShort: "the payload is too short"
        case .misfit: "the records do not fill the payload"
        case .tooLarge: "a record is larger than the format allows"
        case .unfinished: "the record before it has no end"
        }
    }
}

/// The records of a data frame, including the fragments of the first.
package struct AssembledRecords {
    package var time: WallTime
    /// The encoded records, valid until the next frame is decoded.
    package var wire: UnsafeRawBufferPointer
}

package struct RecordAssembler {
    private let fragments = ByteBuffer(capacity: 64)
    private let recordLimit: Int
    /// The record whose fragments have been read so far; nil if there are none.
    private var begun: SequenceNumber?
    /// The fault of that record. It is reported with the data frame that ends the record.
    private var fault: RecordFault?

    package init(recordLimit: Int = Format.recordLimit) {
        self.recordLimit = recordLimit
    }

    /// Takes the next frame and its payload, which is nil if it does not decompress. Returns nothing for a fragment,
    /// and the records for a data frame. Skips frames of other kinds.
    package mutating func take(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer?
    ) throws(RecordFault) -> AssembledRecords? {
        let isFragment = header.knownKind == .fragment
        guard isFragment || header.knownKind == .data else { return nil }
        if let begun, begun != header.firstSequence || !header.flags.contains(.continuesFromPrevious) {
            fault = fault ?? .unfinished
        }
        if isFragment {
            keep(payload, of: header)
            return nil
        }
        defer { reset() }
        if let fault { throw fault }
        guard let payload else { throw .undecodable }
        guard payload.count >= 8 else { throw .tooShort }
        let wire = try joined(payload.slice(8, payload.count - 8))
        guard RecordWire.holds(wire, count: Int(header.recordCount)) else { throw .misfit }
        return AssembledRecords(time: WallTime(rawValue: payload.number(at: 0)), wire: wire)
    }

    /// Discards fragments, before damage or a move to another position.
    package mutating func reset() {
        fragments.truncate(to: 0)
        (begun, fault) = (nil, nil)
    }

    /// Limits the size of a record while its fragments arrive.
    private mutating func keep(_ payload: UnsafeRawBufferPointer?, of header: FrameHeader) {
        begun = begun ?? header.firstSequence
        guard fault == nil else { return }
        guard let payload else { return fault = .undecodable }
        let limit = recordLimit + varintLength(UInt64(recordLimit))
        guard fragments.count + payload.count <= limit else { return fault = .tooLarge }
        fragments.append(payload)
    }

    /// Returns the bytes of a data frame with the fragments before them. Copies nothing if there are no fragments.
    private func joined(_ bytes: UnsafeRawBufferPointer) throws(RecordFault) -> UnsafeRawBufferPointer {
        guard begun != nil else { return bytes }
        fragments.append(bytes)
        var first = ByteReader(fragments.bytes)
        if let length = try? first.shortestVarint(), length > UInt64(recordLimit) { throw .tooLarge }
        return fragments.bytes
    }
}

/// Encoded records in a payload, each preceded by its length.
package struct RecordWire {
    private var reader: ByteReader

    package init(_ bytes: UnsafeRawBufferPointer) {
        reader = ByteReader(bytes)
    }

    package mutating func next() -> UnsafeRawBufferPointer? {
        guard let length = try? reader.shortestVarint() else { return nil }
        return try? reader.take(length)
    }

    /// Returns whether the bytes are exactly `count` records.
    package static func holds(_ bytes: UnsafeRawBufferPointer, count: Int) -> Bool {
        var wire = RecordWire(bytes)
        for _ in 0..<count {
            if wire.next() == nil { return false }
        }
        return wire.reader.remaining == 0
    }
}
