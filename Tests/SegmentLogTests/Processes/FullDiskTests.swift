// A full disk, and one that is mounted read-only: a small file system in memory, mounted for the test and unmounted
// with it. If the system does not let the test mount one, the tests are skipped with a message.

#if os(Linux)
    import Foundation
    import Glibc
    import SegmentLog
    import LogTesting
    import Testing

    /// A file system of a mebibyte.
    final class SmallDisk {
        let directory: PrivateDirectory
        var log: String { directory.path + "/log" }

        init() throws {
            directory = try PrivateDirectory()
            guard mount("tmpfs", directory.path, "tmpfs", 0, "size=1m") == 0 else {
                throw ScenarioFailure("no small file system could be mounted: error \(errno)")
            }
        }

        // Detached, because a file may still be open at the end of a failed test.
        deinit { umount2(directory.path, Int32(MNT_DETACH)) }

        /// Uses up space, and frees it.
        func fill(leaving free: Int) throws {
            var status = statvfs()
            guard statvfs(directory.path, &status) == 0 else { throw ScenarioFailure("no statvfs: error \(errno)") }
            let used = max(0, Int(status.f_bavail) * Int(status.f_frsize) - free)
            try Data(count: used).write(to: URL(fileURLWithPath: directory.path + "/filling"))
        }

        func empty() throws {
            try FileManager.default.removeItem(atPath: directory.path + "/filling")
        }

        func remount(readOnly: Bool) throws {
            let flags = UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0)
            guard mount("tmpfs", directory.path, "tmpfs", flags, nil) == 0 else {
                throw ScenarioFailure("it could not be mounted again: error \(errno)")
            }
        }

        static let isPermitted = (try? SmallDisk()) != nil
    }

    @Suite(.enabled(if: SmallDisk.isPermitted, "mounting a small tmpfs is not permitted here; run as root"))
    struct FullDiskTests {
        private static var configuration: LogConfiguration {
            var configuration = LogConfiguration()
            configuration.segmentSize = .kibibytes(64)
            configuration.zeroAhead = .kibibytes(16)
            configuration.syncsWhenIdle = false
            return configuration
        }

        /// Appends until the disk is full; returns the last acknowledged record.
        private func appendUntilFull(_ writer: LogWriter) throws -> UInt64 {
            for _ in 0..<2000 {
                let number = writer.lastSequence.next.rawValue
                do throws(LogError) {
                    try writer.append(FullDiskTests.record(number), durability: number % 3 == 0 ? .durable : .buffered)
                } catch {
                    try must(error.code == .diskFull, "a full disk gave \(error)")
                    try must(writer.lastSequence.rawValue == number - 1, "a refused record was counted")
                    return number - 1
                }
            }
            throw ScenarioFailure("the disk did not run full")
        }

        private static func record(_ number: UInt64) -> RecordBatch {
            var generator = Chance(seed: number)
            return RecordBatch((0..<1500 + Int(number % 900)).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        }

        private func check(_ path: String, through last: UInt64) throws {
            var next: UInt64 = 1
            var cursor = try LogReader.open(at: path, showing: .written).cursor()
            while try cursor.nextFrame() {
                try cursor.forEachRecord { number, bytes in
                    try must(number.rawValue == next, "\(number) in place of @\(next)")
                    var batch = RecordBatch()
                    bytes.withUnsafeBytes { batch.append($0) }
                    try must(batch.wire == FullDiskTests.record(next).wire, "@\(next) has other bytes")
                    next += 1
                }
            }
            try must(next == last + 1, "the log ends before @\(next), and @\(last) was acknowledged")
        }

        @Test func `on a full disk writes fail, nothing is lost, and writing continues when there is space again`()
            throws
        {
            let disk = try SmallDisk()
            let writer = try LogWriter.open(at: disk.log, configuration: FullDiskTests.configuration)
            try writer.append(FullDiskTests.record(1))
            for free in [200_000, 60_000, 1000] {
                try disk.fill(leaving: free)
                let last = try appendUntilFull(writer)
                try check(disk.log, through: last)
                try mustThrow(.diskFull, "the disk is still full") { () throws(LogError) in
                    _ = try writer.append(FullDiskTests.record(last + 1))
                }
                try disk.empty()
                try writer.append(FullDiskTests.record(last + 1))
                try check(disk.log, through: last + 1)
            }
            let last = writer.lastSequence.rawValue
            try writer.close()
            let again = try LogWriter.open(at: disk.log, creating: .never, configuration: FullDiskTests.configuration)
            try again.append(FullDiskTests.record(last + 1))
            try check(disk.log, through: last + 1)
        }

        @Test func `a log on a full disk can be read, and opened when there is space again`() throws {
            let disk = try SmallDisk()
            try disk.fill(leaving: 300_000)
            var last: UInt64 = 0
            do {
                let writer = try LogWriter.open(at: disk.log, configuration: FullDiskTests.configuration)
                last = try appendUntilFull(writer)
            }
            try check(disk.log, through: last)
            do throws(LogError) {
                _ = try LogWriter.open(at: disk.log, creating: .never, configuration: FullDiskTests.configuration)
            } catch {
                try must(error.code == .diskFull, "opening on a full disk gave \(error)")
            }
            try check(disk.log, through: last)
            try disk.empty()
            let writer = try LogWriter.open(at: disk.log, creating: .never, configuration: FullDiskTests.configuration)
            try writer.append(FullDiskTests.record(last + 1))
            try check(disk.log, through: last + 1)
            try must(try LogVerification(POSIXStorage(directory: disk.log)).run().isHealthy, "it is damaged")
        }

        @Test func `on a read-only disk a writer is refused with a hint, and a reader reads`() throws {
            let disk = try SmallDisk()
            try LogWriter.open(at: disk.log, configuration: FullDiskTests.configuration).append(FullDiskTests.record(1))
            try disk.remount(readOnly: true)
            defer { try? disk.remount(readOnly: false) }
            do throws(LogError) {
                _ = try LogWriter.open(at: disk.log, creating: .never, configuration: FullDiskTests.configuration)
                throw LogError(.ioError, "a writer opened a log on a read-only disk")
            } catch {
                #expect(error.code == .ioError)
                #expect(error.systemError == EROFS)
                #expect(error.hint?.contains("read-only") == true)
            }
            try check(disk.log, through: 1)
        }
    }
#endif
