// Directories that are not a log, have a newer one, or are misused: each is refused with a code, a place and a hint,
// and nothing in the directory changes (invariant 32).

import LogTesting
import SegmentLog
import SynclineGround
import Testing

@Suite("Bad input")
struct BadInputTests {
    private static let first = "00000001-0000000000000001.seg"

    /// A log of several segments, closed cleanly.
    private func log() throws -> MemoryStorage {
        let storage = MemoryStorage()
        let writer = try LogWriter.small(storage)
        for number in 0..<40 {
            try writer.append(
                RecordBatch([UInt8](repeating: UInt8(number), count: 30) + Array("number \(number)".utf8)))
        }
        var numbers = Chance(seed: 6)
        for _ in 0..<30 {
            try writer.append(RecordBatch((0..<200).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }))
        }
        try writer.close()
        return storage
    }

    /// Opening for writing, and reading to the end, must both fail with the code; the files stay unchanged.
    private func expectRefused(
        _ storage: MemoryStorage, _ code: LogError.Code, _ creation: LogCreation = .ifMissing,
        reading: LogError.Code? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = storage.copy()
        do throws(LogError) {
            _ = try LogWriter.small(storage, creating: creation)
            Issue.record("opened", sourceLocation: sourceLocation)
        } catch {
            #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
            #expect(error.hint != nil, "\(error)", sourceLocation: sourceLocation)
        }
        let read = try TortureReader.read(storage, showing: .written).error
        if creation != .always {
            #expect(read?.code == reading ?? code, "\(String(describing: read))", sourceLocation: sourceLocation)
        }
        let names = storage.allNames().files.filter { $0 != "LOCK" }
        #expect(
            names.sorted() == before.allNames().files.filter { $0 != "LOCK" }.sorted(), sourceLocation: sourceLocation)
        for name in names {
            #expect(storage.contents(of: name) == before.contents(of: name), sourceLocation: sourceLocation)
        }
    }

    @Test func `a segment that can't be read does not keep the others from being recognised`() throws {
        let storage = try log()
        let identity = try LogCatalog(storage).identity
        for name in storage.allNames().files where name.hasSuffix(".seg") {
            let content = storage.contents(of: name) ?? []
            storage.setContents([UInt8](repeating: 0, count: 512) + content.dropFirst(512), of: name)
        }
        try storage.remove("HEAD")
        let disk = MemoryStorage(storage, granularity: .sector)
        #expect(try LogCatalog(disk).identity.seed == identity.seed)
        // The first read is that of the header.
        disk.arm(FaultPlan(call: 2, of: [.read], suffix: Self.first))
        #expect(try LogCatalog(disk).identity.seed == identity.seed)
        #expect(disk.counts.faults == 1)
    }

    @Test func `nothing is called lost that could not be read`() throws {
        let storage = MemoryStorage()
        storage.setContents([UInt8](repeating: 0xee, count: 4096), of: Self.first)
        let disk = MemoryStorage(storage, granularity: .sector)
        disk.arm(FaultPlan(call: 2, of: [.read], suffix: Self.first))
        let error = #expect(throws: LogError.self) { try LogCatalog(disk) }
        #expect(error?.code == .ioError)
    }

    @Test func `a directory that holds something else is not a log and does not become one`() throws {
        let storage = MemoryStorage()
        storage.setContents([1, 2, 3], of: "photo.jpg")
        try expectRefused(storage, .noStore)
        #expect(storage.contents(of: "LOCK") == nil)
    }

    @Test func `an empty directory is not a log unless one may be created`() throws {
        try expectRefused(MemoryStorage(), .noStore, .never)
    }

    @Test func `an existing log is not created again`() throws {
        try expectRefused(try log(), .storeExists, .always)
    }

    @Test func `a file in place of the directory is refused`() throws {
        let fixture = try StorageFixture(.posix)
        let path = try #require(fixture.path)
        try POSIXStorage(directory: path).openForWriting("file", create: true).close()
        for creation in [LogCreation.never, .ifMissing, .always] {
            #expect {
                try LogWriter.open(at: path + "/file", creating: creation)
            } throws: { error in
                (error as? LogError)?.code == .noStore && (error as? LogError)?.hint != nil
            }
        }
    }

    @Test func `a newer format is refused as newer`() throws {
        for (offset, value) in [(8, UInt8(2)), (56, 1)] {
            let storage = try log()
            try change(storage, Self.first) { bytes in
                bytes[offset] = value
                let sum = bytes.withUnsafeBytes { crc32c($0.slice(0, 508)) }
                bytes.withUnsafeMutableBytes { $0.store(sum, at: 508) }
            }
            try expectRefused(storage, .storeNewer)
        }
    }

    @Test func `features that are only readable refuse a writer and accept a reader`() throws {
        let storage = try log()
        let last = try #require(try storage.names(in: "").filter { $0.hasSuffix(".seg") }.max())
        let whole = try TortureReader.read(storage, showing: .written)
        try change(storage, last) { bytes in
            bytes[60] = 1
            let sum = bytes.withUnsafeBytes { crc32c($0.slice(0, 508)) }
            bytes.withUnsafeMutableBytes { $0.store(sum, at: 508) }
        }
        #expect {
            try LogWriter.small(storage)
        } throws: { error in
            (error as? LogError)?.code == .storeNewer
        }
        #expect(try TortureReader.read(storage, showing: .written) == whole)
    }

    @Test func `a missing middle, first or last segment is noticed`() throws {
        let names = try log().names(in: "").filter { $0.hasSuffix(".seg") }.sorted()
        try #require(names.count >= 3)
        for missing in [names[0], names[1], names[names.count - 1]] {
            let storage = try log()
            try storage.remove(missing)
            #expect {
                try LogWriter.small(storage)
            } throws: { error in
                (error as? LogError)?.code == .storeCorrupt && (error as? LogError)?.hint != nil
            }
            #expect(try !LogVerification(storage).run().isHealthy)
            #expect(storage.contents(of: missing) == nil)
        }
    }

    @Test func `a truncated header is damage, with its file named`() throws {
        let storage = try log()
        try change(storage, Self.first) { $0.removeLast($0.count - 100) }
        #expect {
            try LogWriter.small(storage)
        } throws: { error in
            (error as? LogError)?.code == .storeCorrupt && (error as? LogError)?.file == Self.first
        }
    }

    @Test func `a log whose segments are all gone is not taken for a new one`() throws {
        let storage = try log()
        for name in try storage.names(in: "") where name.hasSuffix(".seg") { try storage.remove(name) }
        #expect {
            try LogWriter.small(storage)
        } throws: { error in
            (error as? LogError)?.code == .storeCorrupt
        }
    }

    @Test func `a segment of another log, or under another name, is noticed`() throws {
        let other = MemoryStorage()
        let writer = try LogWriter.small(other, seed: 77)
        for _ in 0..<60 { try writer.append(RecordBatch([UInt8](repeating: 1, count: 120))) }
        try writer.close()
        let storage = try log()
        let names = try storage.names(in: "").filter { $0.hasSuffix(".seg") }.sorted()
        storage.setContents(try #require(other.contents(of: Self.first)), of: Self.first)
        #expect(throws: LogError.self) { try LogWriter.small(storage) }
        let renamed = try log()
        renamed.setContents(try #require(renamed.contents(of: names[0])), of: names[1])
        #expect(throws: LogError.self) { try LogWriter.small(renamed) }
        #expect(try !LogVerification(renamed).run().isHealthy)
    }

    @Test("Invariant 20: a read error is never an end")
    func readError() throws {
        let storage = MemoryStorage(try log(), granularity: .sector)
        var call = 1
        var fired = true
        while fired {
            storage.resetCounts()
            storage.arm(FaultPlan(call: call, of: [.read]))
            let reading = try TortureReader.read(storage, showing: .written)
            fired = storage.counts.faults > 0
            #expect(!fired || reading.error?.code == .ioError, "read \(call)")
            call += 1
        }
        #expect(call > 3)
    }

    private func change(_ storage: MemoryStorage, _ name: String, _ body: (inout [UInt8]) -> Void) throws {
        var bytes = try #require(storage.contents(of: name))
        body(&bytes)
        storage.setContents(bytes, of: name)
    }
}
