// The least a log must do with a commit: LZ4 in blocks of at most 64 KiB and a checksum if there is more than one
// record, then one write and one data sync into space already written with zeros. No framing, no index, no recovery.

import CBareLZ4
import CBenchSupport
import Glibc

/// Sendable although it holds a pointer: the C code that it calls locks.
final class FloorEngine: Engine, @unchecked Sendable {
    /// What the log writes around one record: a frame's header and trailer, and its length.
    static let overhead = 52
    static let blockSize = 64 << 10
    private static let capacity = 64 << 20

    let durability: Durability
    private let floor: OpaquePointer
    private let directory: String

    init(_ directory: String, _ durability: Durability) throws {
        guard let floor = cbench_floor_open(directory + "/floor", Self.capacity) else {
            throw BenchError("floor: \(String(cString: strerror(errno)))")
        }
        self.floor = floor
        self.directory = directory
        self.durability = durability
    }

    func makeSession() -> any Session { FloorSession(self) }
    func close() { cbench_floor_close(floor) }
    func readFirst() throws -> Int { throw BenchError("the floor keeps nothing to read") }
    func scan() throws -> ScanTotals { throw BenchError("the floor keeps nothing to read") }

    fileprivate func commit(_ bytes: UnsafeRawBufferPointer) throws {
        guard cbench_floor_commit(floor, bytes.baseAddress, bytes.count, durability == .durable ? 1 : 0) == 0 else {
            throw BenchError("floor: \(String(cString: strerror(errno)))")
        }
    }
}

private final class FloorSession: Session {
    private let engine: FloorEngine
    private var output: UnsafeMutableRawBufferPointer

    init(_ engine: FloorEngine) {
        self.engine = engine
        output = .allocate(byteCount: 1 << 20, alignment: 64)
        output.initializeMemory(as: UInt8.self, repeating: 0x5a)
    }

    deinit { output.deallocate() }

    func put(_ records: RecordSet, _ range: Range<Int>) throws {
        let bytes = records.records(range)
        if range.count == 1 {
            output.copyMemory(from: bytes)
            return try engine.commit(.init(rebasing: output[..<(bytes.count + FloorEngine.overhead)]))
        }
        var length = 0
        var offset = 0
        while offset < bytes.count {
            let block = UnsafeRawBufferPointer(
                rebasing: bytes[offset..<min(bytes.count, offset + FloorEngine.blockSize)])
            let target = UnsafeMutableRawBufferPointer(rebasing: output[(length + FloorEngine.overhead)...])
            let stored = LZ4_compress_default(
                block.bindMemory(to: CChar.self).baseAddress, target.bindMemory(to: CChar.self).baseAddress,
                Int32(block.count), Int32(target.count))
            guard stored > 0 else { throw BenchError("floor: LZ4 refused a block") }
            let checksum = cbench_crc32c(target.baseAddress, Int(stored))
            output.storeBytes(of: checksum, toByteOffset: length, as: UInt32.self)
            length += (FloorEngine.overhead + Int(stored) + 7) & ~7
            offset += block.count
        }
        try engine.commit(.init(rebasing: output[..<length]))
    }
}
