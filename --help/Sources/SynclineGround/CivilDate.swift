// The calendar: which day of which month a number of days since 1970 is, and back. There are no leap seconds.

/// A date of the proleptic Gregorian calendar.
public struct CivilDate: Hashable, Sendable {
    public var year: Int64
    public var month: Int64
    public var day: Int64

    /// Counts in 400-year eras that begin on March 1, so that the leap day is an era's last.
    @inlinable public init(daysSince1970 days: Int64) {
        let (era, dayOfEra) = floorDivide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    @inlinable public init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    @inlinable public var daysSince1970: Int64 {
        let (era, yearOfEra) = floorDivide(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Whether the date exists.
    @inlinable public var exists: Bool {
        switch month {
        case 4, 6, 9, 11: (1...30).contains(day)
        case 2: (1...(isLeapYear ? 29 : 28)).contains(day)
        default: (1...12).contains(month) && (1...31).contains(day)
        }
    }

    @inlinable var isLeapYear: Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// Seconds since 1970 at a time of the day; nil if the date or the time does not exist. None is negative.
    @inlinable public func seconds(hour: Int64 = 0, minute: Int64 = 0, second: Int64 = 0) -> Int64? {
        guard exists, hour < 24, minute < 60, second < 60 else { return nil }
        return ((daysSince1970 * 24 + hour) * 60 + minute) * 60 + second
    }
}

/// Divides and rounds down, so that the remainder is not negative.
@inlinable public func floorDivide(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
