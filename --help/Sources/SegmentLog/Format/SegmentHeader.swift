// The first sector of every segment and checkpoint: its log, its number, and the end of the previous segment, so
// that a missing or shortened segment can be detected from the log alone.

import SynclineGround

package struct SegmentHeader: Hashable, Sendable {
    package enum Role: Sendable { case segment, checkpoint }

    package var role: Role
    package var major = Format.major
    package var minor = Format.minor
    package var identity: LogIdentity
    /// For a segment, its first record; for a checkpoint, the last record it covers.
    package var sequence: SequenceNumber
    package var ordinal: UInt64
    package var created: WallTime
    package var incompatibleFeatures: UInt32 = 0
    package var readCompatibleFeatures: UInt32 = 0
    package var previousLength: UInt64 = 0
    package var previousChain: UInt32 = 0
    package var epoch: UInt32
    package var durableThrough: SequenceNumber

    package init(
        role: Role, identity: LogIdentity, sequence: SequenceNumber, ordinal: UInt64, created: WallTime,
        epoch: UInt32, durableThrough: SequenceNumber
    ) {
        self.role = role
        self.identity = identity
        self.sequence = sequence
        self.ordinal = ordinal
        self.created = created
        self.epoch = epoch
        self.durableThrough = durableThrough
    }

    /// Why 512 bytes are not a header that this version can use.
    package enum Refusal: Error, Hashable {
        case wrongMagic, truncated, wrongChecksum, reservedBytes
        case newerMajor(UInt16)
        case unknownFeatures(UInt32)

        package var sentence: String {
            switch self {
            case .wrongMagic: "it does not begin with a segment's magic"
            case .truncated: "its header is cut off"
            case .wrongChecksum: "its header's checksum is wrong"
            case .reservedBytes: "its header has reserved bytes set"
            case .newerMajor(let version): "it has format version \(version), newer than \(Format.major)"
            case .unknownFeatures(let bits): "it needs features this version does not know (bits \(bits))"
            }
        }

        package var isNewer: Bool {
            switch self {
            case .newerMajor, .unknownFeatures: true
            default: false
            }
        }
    }

    package init(_ bytes: UnsafeRawBufferPointer, role: Role) throws(Refusal) {
        let magic = role == .segment ? Format.segmentMagic : Format.checkpointMagic
        guard bytes.count >= 8 else { throw .truncated }
        guard bytes.prefix(8).elementsEqual(magic) else { throw .wrongMagic }
        guard bytes.count >= Format.segmentHeaderLength else { throw .truncated }
        let headerChecksum: UInt32 = bytes.number(at: 508)
        guard crc32c(bytes.slice(0, 508)) == headerChecksum else { throw .wrongChecksum }
        major = bytes.number(at: 8)
        guard major == Format.major else { throw .newerMajor(major) }
        minor = bytes.number(at: 10)
        incompatibleFeatures = bytes.number(at: 56)
        guard incompatibleFeatures == 0 else { throw .unknownFeatures(incompatibleFeatures) }
        let knowsEverything = minor <= Format.minor
        guard bytes.number(UInt32.self, at: 12) == 512, !knowsEverything || bytes.slice(88, 420).isAllZero
        else { throw .reservedBytes }
        self.role = role
        identity = LogIdentity(bytes, at: 16)
        sequence = SequenceNumber(rawValue: bytes.number(at: 32))
        ordinal = bytes.number(at: 40)
        created = WallTime(rawValue: bytes.number(at: 48))
        readCompatibleFeatures = bytes.number(at: 60)
        previousLength = bytes.number(at: 64)
        previousChain = bytes.number(at: 72)
        epoch = bytes.number(at: 76)
        durableThrough = SequenceNumber(rawValue: bytes.number(at: 80))
    }

    /// Appends the header to a buffer.
    package func append(to buffer: ByteBuffer) {
        encode(into: buffer.room(Format.segmentHeaderLength))
        buffer.advance(by: Format.segmentHeaderLength)
    }

    package func encode(into bytes: UnsafeMutableRawBufferPointer) {
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.copyBytes(from: role == .segment ? Format.segmentMagic : Format.checkpointMagic)
        bytes.store(major, at: 8)
        bytes.store(minor, at: 10)
        bytes.store(UInt32(Format.segmentHeaderLength), at: 12)
        identity.store(into: bytes, at: 16)
        bytes.store(sequence.rawValue, at: 32)
        bytes.store(ordinal, at: 40)
        bytes.store(created.rawValue, at: 48)
        bytes.store(incompatibleFeatures, at: 56)
        bytes.store(readCompatibleFeatures, at: 60)
        bytes.store(previousLength, at: 64)
        bytes.store(previousChain, at: 72)
        bytes.store(epoch, at: 76)
        bytes.store(durableThrough.rawValue, at: 80)
        bytes.store(crc32c(UnsafeRawBufferPointer(bytes).slice(0, 508)), at: 508)
    }
}
