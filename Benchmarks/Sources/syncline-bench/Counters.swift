// Counts that are more comparable between machines than times are: what reached the block device, how often it was
// flushed, how much memory and disk were taken.

import CBenchSupport
import Glibc

/// The counters of the device under a file system.
struct BlockDevice: Sendable {
    let name: String
    private let directory: String

    /// Nil if the file system has no device of its own to count on (overlay, tmpfs, Btrfs).
    init?(under mount: Mount?) {
        guard let mount, var device = resolvedPath("/sys/dev/block/\(mount.device)") else { return nil }
        // Flushes are counted for whole disks only.
        if access(device + "/partition", F_OK) == 0 { device = device.parentDirectory }
        self.directory = device
        name = device.lastComponent
    }

    /// Sectors of 512 bytes written, and flushes, since the system started.
    func read() -> DeviceCounts? {
        guard let text = contents(of: directory + "/stat") else { return nil }
        let fields = text.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
        guard fields.count > 6 else { return nil }
        return DeviceCounts(bytes: fields[6] * 512, flushes: fields.count > 15 ? fields[15] : nil)
    }

    var writeCache: String? { contents(of: directory + "/queue/write_cache")?.trimmed }
}

struct DeviceCounts: Sendable {
    var bytes: UInt64
    var flushes: UInt64?
}

/// Resets this process's peak of resident memory to what it holds now, and returns that.
func resetPeakMemory() -> Int {
    let file = open("/proc/self/clear_refs", O_WRONLY)
    if file >= 0 {
        write(file, "5", 1)
        close(file)
    }
    return peakMemory()
}

/// The peak of this process's resident memory in bytes.
func peakMemory() -> Int {
    let line = contents(of: "/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    return (kibibytes ?? 0) << 10
}

/// Writes out everything the file system of a directory holds in memory.
func syncFileSystem(of directory: String) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY)
    guard descriptor >= 0 else { return }
    _ = cbench_sync_filesystem(descriptor)
    close(descriptor)
}
