// The constants of the format in one place; docs/FORMAT.md explains them.

package enum Format {
    package static let major: UInt16 = 1
    package static let minor: UInt16 = 0

    package static let segmentMagic: [UInt8] = [0x89, 0x4c, 0x4f, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]  // \x89LOG\r\n\x1a\n
    package static let checkpointMagic: [UInt8] = [0x89, 0x43, 0x4b, 0x50, 0x0d, 0x0a, 0x1a, 0x0a]  // \x89CKP…
    package static let headMagic: [UInt8] = [0x89, 0x48, 0x45, 0x44, 0x0d, 0x0a, 0x1a, 0x0a]  // \x89HED…
    package static let leaseMagic: [UInt8] = [0x89, 0x4c, 0x53, 0x45, 0x0d, 0x0a, 0x1a, 0x0a]  // \x89LSE…

    /// `D7 'F' 'R' 'M'` and `'E' 'N' 'D' D7`: no byte is zero, so no piece of a file that holds one is all zero.
    package static let frameMagic: UInt32 = 0x4d52_46d7
    package static let trailerMagic: UInt32 = 0xd744_4e45

    /// The sector size: a disk writes a sector completely or not at all.
    package static let sector = 512
    package static let segmentHeaderLength = 512
    package static let frameHeaderLength = 40
    package static let trailerLength = 8
    package static let frameOverhead = frameHeaderLength + trailerLength
    package static let headSlotLength = 4096

    /// The raw size at which a frame is closed: larger frames do not compress better.
    package static let frameTarget = 65_536
    /// The maximum raw size of a frame; a reader allocates no more than this before verification.
    package static let frameRawLimit = 1 << 20
    /// The maximum stored size: LZ4's bound for the raw limit.
    package static let frameStoredLimit = frameRawLimit + frameRawLimit / 255 + 16
    /// The maximum number of records in a data frame.
    package static let frameRecordLimit = 65_535
    /// The maximum size of a record.
    package static let recordLimit = 256 << 20
    /// The maximum size of the user's note in a sealed segment or checkpoint.
    package static let noteLimit = 65_536
    /// Stored bytes with this many zeros in a row are masked. It is less than what a whole sector of a frame holds
    /// (512 less a header and a trailer), so the check does not depend on the frame's position.
    package static let zeroRunLimit = 256
    package static let mask: UInt8 = 0xa5

    /// The smallest unit in which operating systems cache files.
    package static let page = 4096

    /// The fixed length of the frame at the end of a sealed segment.
    package static let sealFrameLength = frameOverhead + SealPayload.length
}

/// The kind of a frame.
public enum FrameKind: UInt8, Sendable {
    /// Records.
    case data = 1
    /// A writer opened the log.
    case session = 3
    /// A piece of a checkpoint.
    case block = 5
    /// Where the frames of a segment are.
    case index = 6
    /// The end of a segment.
    case seal = 7
    /// The place of lost records, or space without any.
    case hole = 9
    /// A part of a large record.
    case fragment = 10

    /// A reader may skip unknown kinds from here on.
    package static let ignorable: UInt8 = 128
    /// Bytes without meaning between the blocks of a checkpoint. Every reader skips it as a kind that it does not know.
    package static let filler: UInt8 = 128
}

/// How a frame's payload is stored.
package enum Codec: UInt8 {
    case stored = 0
    case lz4 = 1
}
