// The floor of a scan: the records as LZ4 blocks of 64 KiB in memory, each checked by CRC32C and decoded, nothing else.

import CBareLZ4
import CBenchSupport

struct FloorScan {
    private var blocks: [(stored: [UInt8], checksum: UInt32, size: Int)] = []
    private let totals: ScanTotals

    init(_ records: RecordSet) throws {
        let bytes = records.records(0..<records.count)
        for start in stride(from: 0, to: bytes.count, by: FloorEngine.blockSize) {
            let block = UnsafeRawBufferPointer(
                rebasing: bytes[start..<min(bytes.count, start + FloorEngine.blockSize)])
            let stored = try compressed(block)
            let checksum = stored.withUnsafeBytes { cbench_crc32c($0.baseAddress, $0.count) }
            blocks.append((stored, checksum, block.count))
        }
        totals = ScanTotals(records: records.count, bytes: bytes.count)
    }

    func run() throws -> Reply {
        let output = UnsafeMutableBufferPointer<CChar>.allocate(capacity: FloorEngine.blockSize)
        defer { output.deallocate() }
        let start = monotonicNanoseconds()
        for block in blocks {
            let size = block.stored.withUnsafeBytes { stored in
                guard cbench_crc32c(stored.baseAddress, stored.count) == block.checksum else { return Int32(-1) }
                return LZ4_decompress_safe(
                    stored.bindMemory(to: CChar.self).baseAddress, output.baseAddress, Int32(stored.count),
                    Int32(output.count))
            }
            guard size == Int32(block.size) else { throw BenchError("floor: a block did not decode") }
        }
        var reply = Reply()
        reply.seconds = Double(monotonicNanoseconds() - start) / 1e9
        reply.totals = totals
        return reply
    }
}

/// One block as LZ4 stores it.
func compressed(_ block: UnsafeRawBufferPointer) throws -> [UInt8] {
    let bound = Int(LZ4_compressBound(Int32(block.count)))
    let stored = [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
        let size = LZ4_compress_default(
            block.bindMemory(to: CChar.self).baseAddress,
            UnsafeMutableRawBufferPointer(buffer).bindMemory(to: CChar.self).baseAddress, Int32(block.count),
            Int32(bound))
        count = Int(max(0, size))
    }
    guard !stored.isEmpty else { throw BenchError("floor: LZ4 refused a block") }
    return stored
}
