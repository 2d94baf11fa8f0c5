// Names every byte of the header of a segment or checkpoint.

import SegmentLog
import SynclineGround

extension FieldWalk {
    /// The first 512 bytes of a file.
    mutating func addHeader(of role: SegmentHeader.Role) {
        let all = Array(bytes)
        let isSegment = role == .segment
        let magic = isSegment ? Format.segmentMagic : Format.checkpointMagic
        add("magic", 8, isRight: all.starts(with: magic))
        addNumber("format major", 2, isRight: peek(2) == UInt64(Format.major))
        addNumber("format minor", 2)
        addNumber("header length", 4, isRight: peek(4) == UInt64(Format.segmentHeaderLength))
        add("identity of the log", 16, Hexadecimal.text(of: bytes.prefix(16)))
        add(isSegment ? "first record" : "last record it covers", 8, "@\(peek(8))")
        addNumber("ordinal", 8, isRight: isSegment ? peek(8) > 0 : peek(8) == 0)
        addTime("time of creation")
        addNumber("incompatible features", 4, isRight: peek(4) == 0)
        addNumber("read-compatible features", 4)
        addNumber("length of the previous segment", 8)
        add("chain value of the previous segment", 4, Hexadecimal.text(peek(4), digits: 8))
        addNumber("epoch of the writer", 4)
        add("last record known durable", 8, "@\(peek(8))")
        add("zero", 420, isRight: bytes.prefix(420).allSatisfy { $0 == 0 })
        let checksum = all.count < Format.segmentHeaderLength ? nil : all.checksum(0, 508)
        add(
            "checksum", 4, Hexadecimal.text(peek(4), digits: 8), isRight: checksum.map { peek(4) == UInt64($0) })
    }
}
