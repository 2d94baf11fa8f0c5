// The calendar and its division.

import SynclineGround
import Testing

@Suite struct CalendarTests {
    @Test func `a division rounds down`() {
        for (number, divisor, quotient, remainder) in [(7, 7, 1, 0), (-1, 7, -1, 6), (-7, 7, -1, 0), (-8, 7, -2, 6)]
            as [(Int64, Int64, Int64, Int64)]
        {
            let result = floorDivide(number, by: divisor)
            #expect(result.quotient == quotient && result.remainder == remainder)
        }
    }

    @Test func `every day has one date, and it follows the date before`() {
        var before = CivilDate(year: 1599, month: 12, day: 31)
        let start = before.daysSince1970
        for days in start + 1...start + 146_097 {
            let date = CivilDate(daysSince1970: days)
            let next = CivilDate(year: before.year, month: before.month, day: before.day + 1)
            let follows = next.exists ? date == next : date.day == 1
            if !follows || !date.exists || date.daysSince1970 != days { Issue.record("\(date) follows \(before)") }
            before = date
        }
        #expect(before == CivilDate(year: 1999, month: 12, day: 31))
    }

    @Test func `a time that does not exist has no seconds`() {
        #expect(CivilDate(year: 1969, month: 12, day: 31).seconds(hour: 23, minute: 59, second: 59) == -1)
        #expect(CivilDate(year: 2000, month: 2, day: 29).seconds() == 951_782_400)
        #expect(CivilDate(year: 1900, month: 2, day: 29).seconds() == nil)
        #expect(CivilDate(year: 2000, month: 13, day: 1).seconds() == nil)
        #expect(CivilDate(year: 2000, month: 1, day: 0).seconds() == nil)
        for (hour, minute, second) in [(24, 0, 0), (0, 60, 0), (0, 0, 60)] as [(Int64, Int64, Int64)] {
            #expect(CivilDate(year: 2000, month: 1, day: 1).seconds(hour: hour, minute: minute, second: second) == nil)
        }
    }
}
