// How long a push waits before a retry, by what the server asks and by the available clocks.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct WaitingTests {
    private let clock = ManualEnvironment()
    private let server = SimulatedServer(.zumo2)

    /// A push whose first response is 503; returns the wait before the retry, or nil if the push stopped.
    private func wait(_ headers: [HTTPHeader]) async throws -> Int64? {
        server.setTable("t", rows: [])
        let server = server
        let calls = CallCount()
        var configuration = SyncConfiguration()
        configuration.environment = clock
        configuration.transport = PlayedLine { request in
            if await calls.next() > 1 { return .success(server.handle(request)) }
            return .success(.json(503, "", headers))
        }
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        try await database.rows(of: "t").insert(.item("1", [:]))
        let begin = clock.milliseconds()
        let push = Task { try await database.push() }
        let isOver = Flag()
        Task {
            _ = try await push.value
            await isOver.set()
        }
        while clock.nextWaking == nil, await !isOver.value { await Task.yield() }
        guard let waking = clock.nextWaking?.milliseconds else {
            #expect(try await push.value.reason?.code == .serverError)
            return nil
        }
        clock.advance(by: .milliseconds(waking - begin))
        #expect(try await push.value.outcome == .complete)
        try await database.close()
        return waking - begin
    }

    private func date(_ offset: Int64) -> String {
        HTTPDate.text(of: .init(milliseconds: clock.milliseconds() + offset))
    }

    private static let own: Int64 = 375

    @Test func `a moment is relative to the server's clock, whatever the device's clock says`() async throws {
        let headers = [HTTPHeader("Date", date(86_400_000)), HTTPHeader("Retry-After", date(86_410_000))]
        #expect(try await wait(headers) == 10_000)
        let long = [HTTPHeader("Date", date(-86_400_000)), HTTPHeader("Retry-After", date(0))]
        #expect(try await wait(long) == nil)
    }

    @Test func `a moment without the server's clock is relative to the device's clock, if that is plausible`()
        async throws
    {
        #expect(try await wait([HTTPHeader("Retry-After", date(20_000))]) == 20_000)
        for offset in [-20_000, 400_000, 86_400_000] as [Int64] {
            #expect(try await wait([HTTPHeader("Retry-After", date(offset))]) == Self.own, "\(offset)")
        }
    }

    @Test func `a number of any length exceeds the maximum wait`() async throws {
        for digits in [7, 17, 20, 400] {
            #expect(try await wait([HTTPHeader("Retry-After", String(repeating: "9", count: digits))]) == nil)
        }
        #expect(try await wait([HTTPHeader("Retry-After", "00000000000000000000000007")]) == 7000)
    }
}

private actor CallCount {
    private var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}

private actor Flag {
    private(set) var value = false

    func set() { value = true }
}
