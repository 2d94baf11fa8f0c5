// Settings that an app gives to a store: what is refused, and times that no store can count.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct SettingTests {
    @Test func `a protocol whose name is not known is refused`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        for value in [.string("datasync"), .integer(3), .string("")] as [Value] {
            let error = await #expect(throws: SyncError.self) { try await database.set("protocol", value) }
            #expect(error?.code == .invalidConfiguration && error?.hint == "Set it to zumo2 or datasync3.")
        }
        try await database.set("protocol", "datasync3")
        #expect(try database.reader.serverProtocol == .datasync3)
        try await database.set("protocol", nil)
        #expect(try database.reader.serverProtocol == .zumo2)
    }

    @Test func `a store that records a protocol whose name is not known sends nothing`() async throws {
        let network = SimulatedNetwork(SimulatedServer())
        var configuration = SyncConfiguration.test()
        configuration.connect(to: network)
        configuration.settings = [("protocol", "datasync")]
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        try await database.rows(of: "t").insert(.item("a", [:]))
        let error = await #expect(throws: SyncError.self) { _ = try await database.push() }
        #expect(error?.code == .invalidConfiguration)
        #expect(network.requestCount == 0)
    }

    @Test func `a setting of the log that is out of range is named`() async throws {
        for log in [
            LogConfiguration(segmentSize: .bytes(1)), LogConfiguration(zeroAhead: .mebibytes(17)),
            LogConfiguration(acceleration: 0), LogConfiguration(quarantineLimit: 0),
        ] {
            let error = await #expect(throws: SyncError.self) {
                _ = try await SyncDatabase.open(MemoryStorage(), SyncConfiguration(log: log))
            }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test func `a duration is at most a thousand years, and a date the nearest millisecond that there is`() {
        #expect(Duration.milliseconds(1500).milliseconds == 1500)
        #expect(Duration.microseconds(-1500).milliseconds == -1)
        let longest = Duration.seconds(Int64.max).milliseconds
        #expect(longest == Duration.seconds(Double(1000 * 366 * 86_400)).milliseconds)
        #expect(Duration.seconds(Int64.min).milliseconds == -longest)
        #expect(Date(milliseconds: 1_767_225_600_123).milliseconds == 1_767_225_600_123)
        #expect(Date(timeIntervalSince1970: 1e300).milliseconds == .max)
        #expect(Date(timeIntervalSince1970: -1e300).milliseconds == .min)
    }

    @Test func `automatic sync takes any delay and interval`() async throws {
        let clock = ManualEnvironment()
        var configuration = SyncConfiguration(environment: clock)
        configuration.connect(to: SimulatedNetwork(SimulatedServer()))
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        for duration in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
            let sync = try database.startAutomaticSync(AutomaticSyncSettings(delay: duration, interval: nil))
            try await database.rows(of: "t").insert(["text": "milk"])
            await sync.stop()
            let other = try database.startAutomaticSync(
                AutomaticSyncSettings(delay: nil, interval: .seconds(Int64.max)))
            for await status in other.statuses() where status.lastRound != nil { break }
            await other.stop()
        }
    }
}
