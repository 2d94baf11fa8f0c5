// The questions of the page that are being answered and can be stopped, by the tickets that the page gave them.

import SynclineGround

final class StudioTickets: Sendable {
    private let running = Mutex<[String: Interrupt]>([:])

    func run<Answer>(_ ticket: String, _ body: (Interrupt) -> Answer) -> Answer {
        let interrupt = Interrupt()
        running.withLock { $0[ticket] = interrupt }
        defer { running.withLock { _ = $0.removeValue(forKey: ticket) } }
        return body(interrupt)
    }

    /// Returns whether the question was being answered.
    func cancel(_ ticket: String) -> Bool {
        let found = running.withLock { $0[ticket] }
        found?.set()
        return found != nil
    }

    func stop() {
        for interrupt in running.withLock({ Array($0.values) }) { interrupt.set() }
    }
}
