// The network limits: each one works, and an interruption loses nothing.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct NetworkLimitTests {
    @Test func `each limit reaches the transport`() {
        var limits = NetworkLimits()
        #expect(limits.transport == TransportLimits())
        limits.connect = .seconds(1)
        limits.stall = .seconds(2)
        limits.total = .seconds(3)
        limits.idle = .seconds(4)
        limits.body = .bytes(5)
        limits.headers = .bytes(6)
        var expected = TransportLimits()
        expected.connect = .seconds(1)
        expected.stall = .seconds(2)
        expected.total = .seconds(3)
        expected.idle = .seconds(4)
        expected.responseSize = 5
        expected.headerSize = 6
        #expect(limits.transport == expected)
    }

    @Test func `the store's setting names some limits and leaves the others`() throws {
        var expected = NetworkLimits()
        expected.connect = .milliseconds(1500)
        expected.pages = 7
        #expect(try NetworkLimits(Value(json: Array(#"{"connect":1.5,"pages":7}"#.utf8))) == expected)
        #expect(try NetworkLimits(.object([])) == NetworkLimits())
        for text in [
            "7", #"{"connect":0}"#, #"{"pages":0}"#, #"{"body":-1}"#, #"{"wait":"long"}"#, #"{"redirects":1}"#,
            #"{"total":1e300}"#,
        ] {
            let error = #expect(throws: SyncError.self) { try NetworkLimits(Value(json: Array(text.utf8))) }
            #expect(error?.code == .invalidConfiguration, "\(text)")
        }
    }

    @Test func `limits that let nothing through are refused when the store is opened`() async throws {
        var configuration = SyncConfiguration.test()
        configuration.limits = NetworkLimits()
        configuration.limits?.total = .zero
        let error = await #expect(throws: SyncError.self) {
            try await SyncDatabase.open(MemoryStorage(), configuration)
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(throws: SyncError.self) {
            try Backend(url: "http://127.0.0.1", limits: configuration.limits ?? .init())
        }
    }

    @Test(arguments: [false, true])
    func `a list that returns new rows for ever ends with the limit of pages`(byChanges: Bool) async throws {
        var configuration = SyncConfiguration.test()
        configuration.serverProtocol = .datasync3
        let counter = Counter()
        configuration.transport = PlayedLine { _ in
            let number = await counter.next()
            let rows = [2 * number, 2 * number + 1].map { place in
                #"{"id":"r\#(place)","updatedAt":"2026-01-01T00:00:00.\#(100 + place)Z","version":"1"}"#
            }.joined(separator: ",")
            if byChanges {
                return .success(
                    .json(
                        200, #"{"items":[\#(rows)],"cursor":"c\#(number)","hasMore":true}"#,
                        [HTTPHeader(WireHeader.capabilities, "changes")]))
            }
            return .success(.json(200, #"{"items":[\#(rows)],"count":1000000}"#))
        }
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        try await database.set("limits", .object([.init("pages", .integer(20))]))
        var settings = PullSettings()
        settings.queryID = "q"
        for round in 1...2 {
            let report = try await database.pull("t", settings)
            #expect(report.reason?.code == .serverError)
            #expect(report.reason?.message.contains("20 pages") == true)
            #expect(try await database.rows(of: "t").count() >= round * 38, "what came stays")
        }
        // One more request finds out that the server has a changes feed.
        #expect(await counter.count == (byChanges ? 41 : 40))
    }

    @Test func `a longer wait is accepted if the store is configured so`() async throws {
        let clock = ManualEnvironment()
        let server = SimulatedServer(.zumo2)
        let network = SimulatedNetwork(server)
        var configuration = SyncConfiguration()
        configuration.environment = clock
        configuration.connect(to: network)
        configuration.limits = NetworkLimits()
        configuration.limits?.longestWait = .seconds(900)
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        try await database.rows(of: "t").insert(.item("1", [:]))
        network.script([.answer(status: 503, retryAfter: "900"), .answer(status: 503, retryAfter: "901")])
        let push = Task { try await database.push() }
        while clock.nextWaking == nil { await Task.yield() }
        #expect(clock.nextWaking == clock.now().addingTimeInterval(900))
        clock.advance(by: .seconds(900))
        #expect(try await push.value.reason?.code == .serverError)
    }
}

private actor Counter {
    private(set) var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}
