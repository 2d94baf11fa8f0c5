// A storage of each kind for tests, and helpers for them.

import LogTesting
import SegmentLog

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The storages that must behave alike.
enum StorageKind: CaseIterable, Sendable {
    case posix, memory, faulty
}

/// An empty storage. One of the system is in a private directory that is removed with the fixture.
final class StorageFixture {
    let storage: any LogStorage
    /// Where the files are, if they are the system's.
    let path: String?

    init(_ kind: StorageKind) throws {
        switch kind {
        case .posix:
            let path = try StorageFixture.privateDirectory()
            self.path = path
            storage = POSIXStorage(directory: path)
        case .memory:
            path = nil
            storage = MemoryStorage()
        case .faulty:
            path = nil
            storage = MemoryStorage(granularity: .sector)
        }
    }

    deinit {
        if let path { StorageFixture.removeTree(path) }
    }

    private static func privateDirectory() throws -> String {
        var template = Array("/tmp/syncline-storage-XXXXXX".utf8CString)
        let path = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let path else {
            throw StorageError(.other, operation: "mkdtemp", name: "", number: errno, reason: "no directory for a test")
        }
        return path
    }

    private static func removeTree(_ path: String) {
        let storage = POSIXStorage(directory: path)
        for name in (try? storage.names(in: "")) ?? [] where (try? storage.remove(name)) == nil {
            removeTree("\(path)/\(name)")
        }
        rmdir(path)
    }
}

extension LogStorage {
    /// Creates a file with these bytes, or writes them over the beginning of an existing one.
    @discardableResult
    func put(_ bytes: [UInt8], in name: String, at offset: UInt64 = 0) throws -> any WritableFile {
        let file = try openForWriting(name, create: true)
        try file.put(bytes, at: offset)
        return file
    }

    /// Creates a file with these bytes, durable with its name.
    @discardableResult
    func putDurably(_ bytes: [UInt8], in name: String) throws -> any WritableFile {
        let file = try put(bytes, in: name)
        try file.sync(.durable)
        let directory = name.split(separator: "/").dropLast().joined(separator: "/")
        try syncDirectory(directory)
        return file
    }

    /// Returns all bytes of a file, through a new reader.
    func bytes(of name: String) throws -> [UInt8] {
        let file = try openForReading(name)
        defer { file.close() }
        return try file.allBytes()
    }

    /// Returns the names in a directory, sorted.
    func list(_ directory: String = "") throws -> [String] {
        try names(in: directory).sorted()
    }
}

extension ReadableFile {
    func read(_ count: Int, at offset: UInt64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: count)
        let read = try bytes.withUnsafeMutableBytes { try self.read(into: $0, at: offset) }
        return Array(bytes.prefix(read))
    }

    func allBytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try read(4096, at: UInt64(bytes.count))
            if more.isEmpty { return bytes }
            bytes += more
        }
    }
}

extension WritableFile {
    /// Writes all bytes, in as many calls as necessary.
    func put(_ bytes: [UInt8], at offset: UInt64 = 0) throws {
        var written = 0
        while written < bytes.count {
            written += try bytes.withUnsafeBytes { buffer in
                try write(UnsafeRawBufferPointer(rebasing: buffer[written...]), at: offset + UInt64(written))
            }
        }
    }
}

/// Returns the kind of the storage error that a call throws; nil if it succeeds.
func refusal(of call: () throws -> Void) -> StorageError.Kind? {
    do {
        try call()
        return nil
    } catch {
        return (error as? StorageError)?.kind
    }
}

/// The bytes of a sector.
private let sector = 512

/// Sectors filled with one value each.
func sectors(_ values: UInt8...) -> [UInt8] {
    values.flatMap { [UInt8](repeating: $0, count: sector) }
}

/// The first byte of each sector, to compare contents quickly.
func firsts(_ bytes: [UInt8]?) -> [UInt8]? {
    bytes.map { bytes in stride(from: 0, to: bytes.count, by: sector).map { bytes[$0] } }
}

extension MemoryStorage {
    /// Every state that a crash can leave, one for each subset of the pending items.
    func allCrashes() -> [MemoryStorage] {
        let count = pendingItemCount
        precondition(count <= 16, "too many subsets")
        return (0..<1 << count).map { subset in crash { subset >> $0 & 1 == 1 } }
    }

    /// Returns the different results of a question about every such state.
    func afterEveryCrash<Answer: Hashable>(_ question: (MemoryStorage) throws -> Answer) rethrows -> Set<Answer> {
        Set(try allCrashes().map(question))
    }
}
