// Reads the parts of a date string, one after another.

import SynclineGround

struct DateScanner {
    let bytes: UnsafeRawBufferPointer
    var index = 0

    mutating func timestamp() -> Timestamp? {
        // Most strings are no dates, and end here.
        guard bytes.count - index >= 10, bytes[index + 4] == UInt8(ascii: "-") else { return nil }
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2) else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        if index == bytes.count {
            return date.seconds().map { Timestamp(.init(seconds: $0), decimals: 0, zone: .dateOnly) }
        }
        guard skip("T"), let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
            var seconds = date.seconds(hour: hour, minute: minute, second: second),
            let fraction = fraction(), let zone = zone()
        else { return nil }
        if case .offset(let minutes) = zone { seconds -= Int64(minutes) * 60 }
        return Timestamp(
            .init(seconds: seconds, nanoseconds: fraction.nanoseconds), decimals: fraction.decimals, zone: zone)
    }

    private mutating func number(_ width: Int) -> Int64? {
        guard bytes.count - index >= width, let value = bytes.decimal(in: index..<index + width) else { return nil }
        index += width
        return value
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
        while decimals < 9, let digit = number(1) {
            value = value * 10 + UInt32(digit)
            decimals += 1
        }
        guard decimals > 0 else { return nil }
        for _ in decimals..<9 { value *= 10 }
        return (value, decimals)
    }

    private mutating func zone() -> Timestamp.Zone? {
        if index == bytes.count { return Timestamp.Zone.none }
        if skip("Z") { return index == bytes.count ? .utc : nil }
        let isWest: Bool
        if skip("+") { isWest = false } else if skip("-") { isWest = true } else { return nil }
        guard let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60, index == bytes.count
        else { return nil }
        // "-00:00" would be printed as "+00:00", so this form can't be kept.
        let size = Int16(hours * 60 + minutes)
        return isWest && size == 0 ? nil : .offset(isWest ? -size : size)
    }
}

extension UnsafeRawBufferPointer {
    /// The number that digits say; nil if other characters are among them.
    @inline(__always)
    func decimal(in range: Range<Int>) -> Int64? {
        var value: Int64 = 0
        for index in range {
            let digit = self[index] &- 0x30
            if digit > 9 { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }
}
