// LZ4 blocks that shorten only runs of one byte. A fast compressor may leave long runs of zeros and of the mask byte
// at once. This one leaves neither, so rule Z holds for every payload.

import SynclineGround

package enum RunLengthBlocks {
    /// Runs of this length and more become matches; what remains of a run is far below the limit of rule Z.
    private static let shortest = 32
    /// The block format requires the last match to begin at least 12 bytes before the end, and to end at least 5
    /// before it.
    private static let (lastStart, lastEnd) = (12, 5)

    /// Writes the block and returns its length, at most the input's length plus a 255th of it plus 16.
    package static func compress(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
        var (length, literals, index) = (0, 0, 0)
        while index < input.count {
            var end = index + 1
            while end < input.count && input[end] == input[index] { end += 1 }
            // The run's first byte is a literal; the match repeats it.
            let match = min(end, input.count - lastEnd) - index - 1
            if match >= shortest && index + 1 <= input.count - lastStart {
                put(input[literals...index], match: match, into: output, &length)
                literals = index + 1 + match
            }
            index = end
        }
        put(input[literals...], match: nil, into: output, &length)
        return length
    }

    private static func put(
        _ literals: Slice<UnsafeRawBufferPointer>, match: Int?, into output: UnsafeMutableRawBufferPointer,
        _ length: inout Int
    ) {
        let rest = match.map { $0 - 4 } ?? 0
        output[length] = UInt8(min(literals.count, 15) << 4 | min(rest, 15))
        length += 1
        putLength(literals.count, into: output, &length)
        UnsafeMutableRawBufferPointer(rebasing: output[length...]).copyBytes(from: literals)
        length += literals.count
        guard match != nil else { return }
        output.store(UInt16(1), at: length)
        length += 2
        putLength(rest, into: output, &length)
    }

    /// Writes the part of a length that exceeds the token's four bits.
    private static func putLength(_ value: Int, into output: UnsafeMutableRawBufferPointer, _ length: inout Int) {
        guard value >= 15 else { return }
        var rest = value - 15
        while rest >= 255 {
            output[length] = 255
            length += 1
            rest -= 255
        }
        output[length] = UInt8(rest)
        length += 1
    }
}
