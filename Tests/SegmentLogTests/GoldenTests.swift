// Logs that released versions wrote, kept as files: every one must open and return the same records, in both
// decoders (invariant 15). A directory never changes once its version is released; a new version adds its own.
// SYNCLINE_WRITE_GOLDEN=1 writes the missing ones.

import Foundation
import SegmentLog
import SynclineGround
import Testing

@Suite struct GoldenTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    @Test func `every golden log gives the records it gave when it was written`() throws {
        if ProcessInfo.processInfo.environment["SYNCLINE_WRITE_GOLDEN"] == "1" {
            for (name, storage) in try GoldenLog.all() { try write(storage, name) }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: GoldenTests.directory.path()).sorted()
        #expect(names.count >= 3)
        for name in names {
            let log = GoldenTests.directory.appending(path: name)
            let storage = try MemoryStorage(copyOf: log)
            let recorded = try String(contentsOf: log.appending(path: "digest.txt"), encoding: .utf8)
            for decoded in [DecodedLog(first: storage), DecodedLog(second: storage)] {
                #expect(try decoded.digest(storage) == recorded, "\(name): \(decoded.reason)")
            }
            // A writer continues at the log's end, and keeps every record.
            let before = DecodedLog(first: storage).records
            var configuration = LogConfiguration()
            configuration.syncsWhenIdle = false
            let writer = try LogWriter.open(
                storage, creating: .never, configuration: configuration, clock: StillClock())
            try writer.append(RecordBatch([1]))
            try writer.close()
            let after = DecodedLog(first: storage)
            #expect(after.verdict == .clean && after.records.dropLast() == before[...], "\(name): \(after.reason)")
        }
    }

    @Test func `the golden logs of this version hold every kind of frame and codec`() throws {
        var kinds: Set<UInt8> = []
        var codecs: Set<UInt8> = []
        var hasMask = false
        for (name, storage) in try GoldenLog.all() {
            #expect(DecodedLog.disagreement(about: storage) == nil, "\(name)")
            for (file, bytes) in storage.files where file.hasSuffix(".seg") || file.hasSuffix(".checkpoint") {
                var at = 512
                while let frame = SecondFrame(bytes, at: at, seed: secondCRC(bytes[16..<32])) {
                    kinds.insert(frame.kind)
                    codecs.insert(frame.codec)
                    hasMask = hasMask || frame.isMasked
                    at += frame.length
                }
            }
        }
        #expect(kinds == [1, 3, 5, 6, 7, 9, 10] && codecs == [0, 1] && hasMask)
    }

    private func write(_ storage: MemoryStorage, _ name: String) throws {
        let log = GoldenTests.directory.appending(path: name)
        guard !FileManager.default.fileExists(atPath: log.path()) else { return }
        try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
        for (file, bytes) in storage.files where !file.contains("/") && file != "LOCK" {
            try Data(bytes).write(to: log.appending(path: file))
        }
        try DecodedLog(second: storage).digest(storage).write(
            to: log.appending(path: "digest.txt"), atomically: true, encoding: .utf8)
    }
}

extension MemoryStorage {
    /// Returns a copy of the files in a directory.
    fileprivate convenience init(copyOf directory: URL) throws {
        self.init()
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path()) where name != "digest.txt" {
            setContents([UInt8](try Data(contentsOf: directory.appending(path: name))), of: name)
        }
    }
}

extension DecodedLog {
    /// What a golden directory records: the verdict, the numbers, and the CRC32C of each record's number, time,
    /// length (8 bytes each) and bytes, in order; a line for each checkpoint, about the lengths and bytes of its
    /// blocks.
    fileprivate func digest(_ storage: MemoryStorage) throws -> String {
        var sum: UInt32 = 0
        func add(_ number: UInt64) {
            var bytes = [UInt8](repeating: 0, count: 8)
            bytes.put(number, 8, at: 0)
            sum = secondCRC(bytes, sum)
        }
        for record in records {
            add(record.number)
            add(UInt64(bitPattern: record.time))
            add(UInt64(record.bytes.count))
            sum = secondCRC(record.bytes, sum)
        }
        var text = "\(verdict)\n\(records.count) records, lost \(lost)\n\(Hexadecimal.text(UInt64(sum), digits: 8))\n"
        for name in storage.allNames().files where name.hasSuffix(".checkpoint") {
            sum = 0
            let (covers, blocks) = try SecondDecoder.checkpoint(storage.contents(of: name) ?? [])
            let identity = try LogReader.open(storage).identity
            let first = try Checkpoint.open(storage, through: .init(rawValue: covers), identity: identity)
            try first.verify()
            #expect(try first.blocks().map(first.block) == blocks)
            for block in blocks {
                add(UInt64(block.count))
                sum = secondCRC(block, sum)
            }
            text +=
                "checkpoint through \(covers), \(blocks.count) blocks\n\(Hexadecimal.text(UInt64(sum), digits: 8))\n"
        }
        return text
    }
}
