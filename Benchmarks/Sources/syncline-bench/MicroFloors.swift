// What the hardware allows for each step alone: a commit, a copy, a compression, a checksum.

import CBareLZ4
import CBenchSupport
import Glibc

struct MicroFloors: Codable, Sendable {
    /// One write of 4 KiB and one data sync, into zeros and at the end of a growing file.
    var commitIntoZeros = 0.0
    var commitGrowing = 0.0
    var copyGigabytes = 0.0
    var compressMegabytes = 0.0
    var compressionRatio = 0.0
    var decompressMegabytes = 0.0
    var checksumGigabytes = 0.0

    init(in directory: String) throws {
        commitIntoZeros = try commit(in: directory, zeros: 2 << 20)
        commitGrowing = try commit(in: directory, zeros: 0)
        copyGigabytes = copy()
        let records = RecordSet(count: 50_000)
        try measureBlocks(records.records(0..<records.count))
    }

    /// The median time of a commit, in microseconds.
    private func commit(in directory: String, zeros: Int) throws -> Double {
        let path = directory + "/commits"
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0 else { throw systemFailure("Making \(path)") }
        defer {
            close(file)
            unlink(path)
        }
        let zeroes = [UInt8](repeating: 0, count: zeros)
        let bytes = [UInt8](repeating: 0x5a, count: 4096)
        guard pwrite(file, zeroes, zeros, 0) == zeros, fsync(file) == 0 else { throw systemFailure("Writing \(path)") }
        var latency = Histogram()
        for index in 0..<400 {
            let before = monotonicNanoseconds()
            guard pwrite(file, bytes, bytes.count, off_t(index * bytes.count)) == bytes.count, fdatasync(file) == 0
            else { throw systemFailure("Writing \(path)") }
            latency.add(monotonicNanoseconds() - before)
        }
        return latency.microseconds(atQuantile: 0.5) ?? 0
    }

    private func copy() -> Double {
        let size = 64 << 20
        let source = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
        let target = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
        defer {
            source.deallocate()
            target.deallocate()
        }
        source.initializeMemory(as: UInt8.self, repeating: 1, count: size)
        target.initializeMemory(as: UInt8.self, repeating: 2, count: size)
        return Double(size) / bestSeconds { memcpy(target, source, size) } / 1e9
    }

    private mutating func measureBlocks(_ bytes: UnsafeRawBufferPointer) throws {
        let blocks = stride(from: 0, to: bytes.count, by: FloorEngine.blockSize).map {
            UnsafeRawBufferPointer(rebasing: bytes[$0..<min(bytes.count, $0 + FloorEngine.blockSize)])
        }
        let output = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 2 * FloorEngine.blockSize)
        defer { output.deallocate() }
        let compress = bestSeconds {
            for block in blocks {
                LZ4_compress_default(
                    block.bindMemory(to: CChar.self).baseAddress, output.baseAddress, Int32(block.count),
                    Int32(output.count))
            }
        }
        let stored = try blocks.map(compressed)
        let decompress = bestSeconds {
            for block in stored {
                block.withUnsafeBytes { block in
                    _ = LZ4_decompress_safe(
                        block.bindMemory(to: CChar.self).baseAddress, output.baseAddress, Int32(block.count),
                        Int32(output.count))
                }
            }
        }
        var sum: UInt32 = 0
        let check = bestSeconds { for block in blocks { sum &+= cbench_crc32c(block.baseAddress, block.count) } }
        compressMegabytes = Double(bytes.count) / compress / 1e6
        compressionRatio = Double(bytes.count) / Double(stored.reduce(0) { $0 + $1.count })
        decompressMegabytes = Double(bytes.count) / decompress / 1e6
        checksumGigabytes = sum == 0 ? 0 : Double(bytes.count) / check / 1e9
    }
}

/// The best of five: whatever disturbs a computation only makes it longer.
private func bestSeconds<Result>(_ body: () -> Result) -> Double {
    (0..<5).map { _ in
        let start = monotonicNanoseconds()
        _ = body()
        return Double(monotonicNanoseconds() - start) / 1e9
    }.min() ?? 0
}
