// Reads the parts of a date string, one after another.

import SynclineGround

struct DateScanner {
    let bytes: UnsafeRawBufferPointer
    var index = 0

    mutating func timestamp() -> Timestamp? {
        // Most strings are no dates, and end here.
        guard bytes.count &- index >= 10, has("-", 4) else { return nil }
        let (century, year) = (number(0), number(2))
        guard has("-", 7), century < 100, year < 100 else { return nil }
        let date = CivilDate(year: century &* 100 &+ year, month: number(5), day: number(8))
        if index &+ 10 == bytes.count {
            return date.seconds().map { Timestamp(.init(seconds: $0), decimals: 0, zone: .dateOnly) }
        }
        guard bytes.count &- index >= 19, has("T", 10), has(":", 13), has(":", 16),
            var seconds = date.seconds(hour: number(11), minute: number(14), second: number(17))
        else { return nil }
        index &+= 19
        guard let fraction = fraction(), let zone = zone() else { return nil }
        if case .offset(let minutes) = zone { seconds -= Int64(minutes) * 60 }
        return Timestamp(
            .init(seconds: seconds, nanoseconds: fraction.nanoseconds), decimals: fraction.decimals, zone: zone)
    }

    private func has(_ character: Unicode.Scalar, _ place: Int) -> Bool {
        bytes[index &+ place] == UInt8(ascii: character)
    }

    /// The number that two digits at a place say; larger than any if they are none.
    @inline(__always)
    private func number(_ place: Int) -> Int64 {
        let (tens, ones) = (bytes[index &+ place] &- 0x30, bytes[index &+ place &+ 1] &- 0x30)
        return tens > 9 || ones > 9 ? 1000 : Int64(tens &* 10 &+ ones)
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func fraction() -> (nanoseconds: UInt32, decimals: UInt8)? {
        guard skip(".") else { return (0, 0) }
        var value: UInt32 = 0
        var decimals: UInt8 = 0
        while decimals < 9, index < bytes.count, bytes[index] &- 0x30 <= 9 {
            value = value &* 10 &+ UInt32(bytes[index] &- 0x30)
            decimals &+= 1
            index &+= 1
        }
        guard decimals > 0 else { return nil }
        for _ in decimals..<9 { value = value &* 10 }
        return (value, decimals)
    }

    private mutating func zone() -> Timestamp.Zone? {
        if index == bytes.count { return Timestamp.Zone.none }
        if skip("Z") { return index == bytes.count ? .utc : nil }
        let isWest: Bool
        if skip("+") { isWest = false } else if skip("-") { isWest = true } else { return nil }
        guard index &+ 5 == bytes.count, has(":", 2) else { return nil }
        let (hours, minutes) = (number(0), number(3))
        guard hours < 24, minutes < 60 else { return nil }
        // "-00:00" would be printed as "+00:00", so this form can't be kept.
        let size = Int16(hours * 60 + minutes)
        return isWest && size == 0 ? nil : .offset(isWest ? -size : size)
    }
}
