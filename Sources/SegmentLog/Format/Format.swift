// The constants of the format, in one place; docs/FORMAT.md says what they mean.

package enum Format {
    package static let major: UInt16 = 1
    package static let minor: UInt16 = 0

    package static let segmentMagic: [UInt8] = [0x89, 0x4c, 0x4f, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]  // \x89LOG\r\n\x1a\n
    package static let checkpointMagic: [UInt8] = [0x89, 0x43, 0x4b, 0x50, 0x0d, 0x0a, 0x1a, 0x0a]  // \x89CKP…
    package static let headMagic: [UInt8] = [0x89, 0x48, 0x45, 0x44, 0x0d, 0x0a, 0x1a, 0x0a]  // \x89HED…
    package static let leaseMagic: [UInt8] = [0x89, 0x4c, 0x53, 0x45, 0x0d, 0x0a, 0x1a, 0x0a]  // \x89LSE…

    /// `D7 'F' 'R' 'M'` and `'E' 'N' 'D' D7`: no byte is zero, so no piece that holds one is all zero.
    package static let frameMagic: UInt32 = 0x4d52_46d7
    package static let trailerMagic: UInt32 = 0xd744_4e45

    /// A sector: what a disk writes whole or not at all.
    package static let sector = 512
    package static let segmentHeaderLength = 512
    package static let frameHeaderLength = 40
    package static let trailerLength = 8
    package static let frameOverhead = frameHeaderLength + trailerLength
    package static let headSlotLength = 4096

    /// Raw bytes after which a frame is closed: compression stops improving here.
    package static let frameTarget = 65_536
    /// The most raw bytes a frame may hold; a reader allocates no more before it has verified.
    package static let frameRawLimit = 1 << 20
    /// The most stored bytes: LZ4's bound for the raw limit.
    package static let frameStoredLimit = frameRawLimit + frameRawLimit / 255 + 16
    /// The most records a data frame counts.
    package static let frameRecordLimit = 65_535
    /// The largest record.
    package static let recordLimit = 256 << 20
    package static let dictionaryLimit = 4096
    /// The largest note a sealed segment or checkpoint carries for its user.
    package static let noteLimit = 65_536
    /// Zeros in a row at which stored bytes are masked: below what any whole sector of a frame could hold (512 less a
    /// header and a trailer), so the check does not depend on where the frame lands.
    package static let zeroRunLimit = 256
    package static let mask: UInt8 = 0xa5

    /// A sealed segment ends with a frame of exactly this length.
    package static let sealFrameLength = frameOverhead + SealPayload.length
}

/// What a frame is.
package enum FrameKind: UInt8 {
    case data = 1
    case session = 3
    case dictionary = 4
    case block = 5
    case index = 6
    case seal = 7
    case hole = 9
    case fragment = 10

    /// Kinds from here on may be skipped by a reader that does not know them.
    package static let ignorable: UInt8 = 128
}

/// How a frame's payload is stored.
package enum Codec: UInt8 {
    case stored = 0
    case lz4 = 1
    case lz4Dictionary = 2
}
