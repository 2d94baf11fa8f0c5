// A small deterministic log: fixed identity, a clock that advances a second at each call, records that do not
// compress. It is in a folder of its own that is removed when the test ends.

import Foundation
import SegmentLog
import SynclineGround

/// A clock that starts at 2023-11-14T22:13:20Z and advances a second at each call.
final class SteppingClock: LogClock {
    private let time = Mutex(Int64(1_700_000_000_000))

    func now() -> WallTime {
        time.withLock { time in
            defer { time += 1000 }
            return WallTime(rawValue: time)
        }
    }

    func newIdentity() -> LogIdentity {
        LogIdentity(high: 0x0706_0504_0302_0100, low: 0x0f0e_0d0c_0b0a_0908)
    }
}

/// A folder that is removed with the value.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("\(NSTemporaryDirectory())/syncline-tool-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        path = template.withUnsafeBufferPointer {
            String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Its contents, folders included, sorted.
    var contents: [String] {
        get throws { try FileManager.default.subpathsOfDirectory(atPath: path).sorted() }
    }
}

/// A log in a temporary folder.
final class TestLog {
    let folder: TemporaryFolder
    var path: String { folder.path + "/log" }
    let clock = SteppingClock()

    /// Two segments, six records, a checkpoint; closed, or left as by a crash.
    init(closing: Bool = true) throws {
        folder = try TemporaryFolder()
        let writer = try open()
        try writer.append(TestLog.batch("hello", "world"))
        try writer.append(TestLog.batch("third"))
        var checkpoint = try CheckpointWriter.begin(for: writer, through: SequenceNumber(rawValue: 3), clock: clock)
        _ = try [UInt8]("state".utf8).withUnsafeBytes { bytes throws(LogError) in try checkpoint.append(bytes) }
        try checkpoint.finish(note: [1, 2, 3])
        try writer.roll()
        try writer.append(TestLog.batch("fourth"))
        try writer.append(TestLog.batch("fifth"))
        try writer.append(TestLog.batch("sixth"))
        if closing { try writer.close() }
    }

    /// A folder for a log that is not yet created.
    init(empty: Void) throws {
        folder = try TemporaryFolder()
    }

    func open() throws -> LogWriter {
        var configuration = LogConfiguration()
        configuration.zeroAhead = .bytes(0)
        configuration.syncsWhenIdle = false
        return try LogWriter.open(POSIXStorage(directory: path), configuration: configuration, clock: clock)
    }

    static func batch(_ records: String...) -> RecordBatch {
        var batch = RecordBatch()
        for record in records { batch.append(Array(record.utf8)) }
        return batch
    }

    static let firstSegment = "00000001-0000000000000001.seg"
    static let secondSegment = "00000002-0000000000000004.seg"
    static let checkpoint = "0000000000000003.checkpoint"

    // MARK: Damage

    func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

    func change(_ name: String, _ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: url(name))
        body(&data)
        try data.write(to: url(name))
    }

    /// Flips a bit of the first occurrence of the string.
    func flip(_ text: String, in name: String) throws {
        try change(name) { data in
            if let place = data.range(of: Data(text.utf8)) { data[place.lowerBound] ^= 1 }
        }
    }

    /// Removes a file's last bytes.
    func cut(_ count: Int, of name: String) throws {
        try change(name) { $0.removeLast(count) }
    }

    /// Every file with its bytes.
    var bytes: [String: Data] { get throws { try folderBytes(path) } }
}
