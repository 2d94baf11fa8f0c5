// The number of an event: its order, and sums at both ends.

import SynclineCore
import Testing

@Suite struct EventNumberTests {
    @Test func `numbers are ordered and counted`() {
        let event: EventNumber = 41
        #expect(event < 42 && "\(event)" == "41" && event + 2 == 43 && event - 1 == 40)
        #expect(event.distance(to: 43) == 2 && event.distance(to: 40) == -1)
        #expect((event - 1...event + 1).map(\.rawValue) == [40, 41, 42])
    }

    @Test func `sums stop at the ends`() {
        let highest = EventNumber(rawValue: .max)
        #expect(highest + 1 == highest && highest - .min == highest)
        #expect((1 as EventNumber) - 2 == 0 && (1 as EventNumber) + .min == 0)
        #expect((0 as EventNumber).distance(to: highest) == .max && highest.distance(to: 0) == -.max)
    }
}
