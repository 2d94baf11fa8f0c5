// The code of the guide about dates and days.

import Foundation
import Syncline

struct Booking: SyncModel {
    var id = SyncID.make()
    var date: Date
    var due: CalendarDay
    var amount: Decimal
}

enum DateSnippets {
    static func zones(_ bookings: SyncTable<Booking>, _ zone: TimeZone) async throws {
        let months = try await bookings.grouped(by: { $0.date.firstOfMonth(in: zone) }).compute(.sum(\.amount))
        let evenings = try await bookings.where { $0.date.hour(in: zone) >= 18 }.get()
        print(months, evenings)
        for day in try await bookings.order(by: \.date).sections(by: { $0.date.calendarDay(in: zone) }).get() {
            print(day.key, day.count, day.models.map(\.amount))
        }
    }

    static func today(_ bookings: SyncTable<Booking>, _ zone: TimeZone) async throws {
        let today = try await bookings.where { $0.date.isIn(CalendarDay(.now, in: zone).dates(in: zone)) }.get()
        print(today)
    }
}
