// A small file is replaced while every call fails in turn, with every possible power failure after each: the result
// is the old file or the new one, never a mixture, and no draft remains once a writer has opened the log.

import LogTesting
import SegmentLog
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite struct WholeFileTests {
    private static let old = [UInt8](repeating: 1, count: 1300)
    private static let new = [UInt8](repeating: 2, count: 700)

    /// A log with a small file in it, all of it durable.
    private func prepared() throws -> MemoryStorage {
        let disk = MemoryStorage(granularity: .sector)
        try StoryLog.open(disk).close()
        try WholeFile("mark", in: disk).replace(with: Self.old)
        #expect(disk.pendingItemCount == 0)
        return disk.processKill()
    }

    private func content(_ storage: any LogStorage) throws -> [UInt8]? {
        try WholeFile("mark", in: storage).read()
    }

    @Test func `is the new one after any crash once it was replaced`() throws {
        let disk = try prepared()
        try WholeFile("mark", in: disk).replace(with: Self.new)
        #expect(try disk.afterEveryCrash { try content($0) } == [Self.new])
        let other = try prepared()
        try WholeFile("mark", in: other).remove()
        #expect(try other.afterEveryCrash { try content($0) } == [nil])
    }

    @Test(arguments: [StorageError.Kind.inputOutput, .diskFull, .permission], [false, true])
    func `is the old or the new one whichever call fails`(kind: StorageError.Kind, persists: Bool) throws {
        var call = 1
        while true {
            let disk = try prepared()
            disk.arm(FaultPlan(call: call, fault: .error(kind), persists: persists))
            var failure: LogError?
            do throws(LogError) {
                try WholeFile("mark", in: disk).replace(with: Self.new)
            } catch {
                failure = error
            }
            if disk.counts.faults == 0 { break }
            #expect(failure?.code == (kind == .diskFull ? .diskFull : .ioError), "call \(call)")
            disk.disarm()
            let killed = disk.processKill()
            for crashed in disk.allCrashes() + [killed] {
                let left = try content(crashed)
                #expect(left == Self.old || left == Self.new, "call \(call)")
                try StoryLog.open(crashed).close()
                #expect(try crashed.list() == ["00000001-0000000000000001.seg", "HEAD", "LOCK", "mark"])
            }
            call += 1
        }
        #expect(call > 6)
    }

    @Test func `leaves no draft after the disk ran full`() throws {
        let disk = try prepared()
        disk.arm(FaultPlan(call: 1, fault: .partialWrite(100, .diskFull)))
        #expect(throws: LogError.self) { try WholeFile("mark", in: disk).replace(with: Self.new) }
        #expect(try disk.list() == ["00000001-0000000000000001.seg", "HEAD", "LOCK", "mark"])
        #expect(try content(disk) == Self.old)
    }

    @Test func `is its owner's alone if it is private, whatever stood there before`() throws {
        let fixture = try StorageFixture(.posix)
        let path = try #require(fixture.path)
        try fixture.storage.put([9], in: "token.tmp")
        try fixture.storage.put([9], in: "token")
        try WholeFile("token", in: fixture.storage, isPrivate: true).replace(with: [1])
        try fixture.storage.put([9], in: "traffic")
        _ = try fixture.storage.openForWriting("traffic", creating: .privately)
        for name in ["token", "traffic"] {
            var status = stat()
            #expect(stat("\(path)/\(name)", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
        #expect(try fixture.storage.list() == ["token", "traffic"])
    }
}
