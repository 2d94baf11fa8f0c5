// Keys are byte strings in the order of their bytes; a key comes before its extensions.

import CLibrary
import SynclineGround

package typealias Bytes = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
    /// Returns a negative number, zero or a positive number if these bytes come before, equal or come after others.
    @inline(__always)
    package func compare(_ other: UnsafeRawBufferPointer) -> Int {
        let shared = Swift.min(count, other.count)
        var offset = 0
        // Keys are short: comparing words is faster than a call.
        while offset + 8 <= shared, offset < 32 {
            let left = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let right = other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if left != right { return left.bigEndian < right.bigEndian ? -1 : 1 }
            offset += 8
        }
        if offset < shared, let left = baseAddress, let right = other.baseAddress {
            let order = memcmp(left + offset, right + offset, shared - offset)
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }

    @inline(__always)
    func begins(with prefix: UnsafeRawBufferPointer) -> Bool {
        count >= prefix.count && prefix.compare(Bytes(rebasing: self[..<prefix.count])) == 0
    }

    /// Returns whether these bytes contain others.
    package func contains(bytes other: UnsafeRawBufferPointer) -> Bool {
        guard let last = other.last, let start = baseAddress else { return other.isEmpty }
        // Ids differ more at their end than at their beginning.
        var offset = other.count - 1
        while offset < count, let found = memchr(start + offset, Int32(last), count - offset) {
            offset = UnsafeRawPointer(found) - start
            let candidate = Bytes(rebasing: self[(offset + 1 - other.count)...offset])
            if candidate.hasSameBytes(as: other) { return true }
            offset += 1
        }
        return false
    }

    /// Whether it contains other bytes, which are in lower case, with ASCII letters in either case.
    package func contains(lowered other: UnsafeRawBufferPointer) -> Bool {
        guard let last = other.last, let start = baseAddress else { return other.isEmpty }
        let forms = last &- 0x61 < 26 ? [last, last & 0xdf] : [last]
        return forms.contains { last in
            var offset = other.count - 1
            while offset < count, let found = memchr(start + offset, Int32(last), count - offset) {
                offset = UnsafeRawPointer(found) - start
                let isSame = (0..<other.count).allSatisfy {
                    self[offset + 1 - other.count + $0].inLowerCase == other[$0]
                }
                if isSame { return true }
                offset += 1
            }
            return false
        }
    }
}

extension UInt8 {
    /// The byte, or the lower-case letter of an upper-case ASCII letter.
    @inline(__always)
    var inLowerCase: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension [UInt8] {
    /// The first key after all that begin with these bytes; nil if there is none.
    var endOfPrefix: [UInt8]? {
        guard let last = lastIndex(where: { $0 < .max }) else { return nil }
        return self[..<last] + [self[last] + 1]
    }
}
