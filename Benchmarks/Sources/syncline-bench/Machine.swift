// The machine of a run, without which its figures mean nothing.

import CBareLZ4
import CBareSQLite
import CLMDB
import CLevelDB
import CRocksDB
import Foundation

struct Machine: Codable, Sendable {
    var processor: String
    var cores: Int
    var memoryGiB: Double
    var system: String
    var kernel: String
    var fileSystem: String
    var device: String?
    var deviceCache: String?
    var load: Double
    var libraries: [String: String]

    /// - Throws: If the directory is in memory, where a sync does nothing.
    init(dataIn directory: String, on mount: Mount?, _ device: BlockDevice?) throws {
        let fileSystem = mount?.type ?? "unknown file system"
        guard fileSystem != "tmpfs", fileSystem != "ramfs" else {
            throw BenchError("\(directory) lies in memory (\(fileSystem)): name a directory on a disk with --dir.")
        }
        self.fileSystem = fileSystem
        self.device = device?.name
        deviceCache = device?.writeCache
        processor = field("model name", in: "/proc/cpuinfo") ?? "unknown processor"
        cores = ProcessInfo.processInfo.activeProcessorCount
        memoryGiB = Double(ProcessInfo.processInfo.physicalMemory) / Double(1 << 30)
        system = field("PRETTY_NAME", in: "/etc/os-release") ?? "Linux"
        kernel = contents(of: "/proc/sys/kernel/osrelease")?.trimmed ?? "unknown kernel"
        load = contents(of: "/proc/loadavg").flatMap { Double($0.prefix { $0 != " " }) } ?? 0
        libraries = [
            "SQLite": String(cString: sqlite3_libversion()),
            "RocksDB": loadedVersion(of: "librocksdb") ?? "unknown",
            "LevelDB": "\(leveldb_major_version()).\(leveldb_minor_version())",
            "LMDB": "\(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)",
            "LZ4": String(cString: LZ4_versionString()),
        ]
    }

    var lines: [String] {
        let versions = libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let disk = [fileSystem, device.map { "on \($0)" }, deviceCache.map { "(\($0) cache)" }]
        return [
            "\(processor), \(cores) cores, \(formatted(memoryGiB)) GiB; \(system), Linux \(kernel)",
            "data: \(disk.compactMap(\.self).joined(separator: " ")); load average \(formatted(load))",
            versions.joined(separator: ", "),
        ]
    }
}

/// The value of a line `name : value` or `name="value"`.
private func field(_ name: String, in file: String) -> String? {
    for line in contents(of: file)?.split(separator: "\n") ?? [] where line.hasPrefix(name) {
        guard let separator = line.firstIndex(where: { $0 == ":" || $0 == "=" }) else { continue }
        return String(line[line.index(after: separator)...]).trimmed.trimmingCharacters(in: ["\""])
    }
    return nil
}

/// The version in the name of a shared library that is loaded: `librocksdb.so.7.8.3` says 7.8.3.
private func loadedVersion(of library: String) -> String? {
    for line in contents(of: "/proc/self/maps")?.split(separator: "\n") ?? [] {
        if let name = line.range(of: library + ".so.") { return String(line[name.upperBound...]) }
    }
    return nil
}
