// Detects whether a path is on a network file system, by the system's mount table. Works only where the system has
// that table as a file (Linux); elsewhere the result is nil, "unknown".

import CLibrary

/// The network file system types, as the mount table spells them.
private let networkTypes: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "9p", "afs", "ceph", "lustre", "beegfs", "gpfs", "pvfs2",
    "orangefs", "coda", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.davfs", "davfs", "fuse.s3fs", "fuse.rclone",
    "fuse.moosefs", "fuse.juicefs",
]

func networkFileSystemType(at path: String) -> String? {
    #if os(Linux)
        guard let mounts = wholeFile("/proc/self/mounts"), let path = existingPath(path) else { return nil }
        return networkFileSystemType(at: path, mounts: mounts)
    #else
        return nil
    #endif
}

/// Returns the type of the mount that holds an absolute path, if it is a network type. The longest mount point that
/// is a prefix holds it; of two with the same mount point, the later one counts.
package func networkFileSystemType(at path: String, mounts: String) -> String? {
    var length = -1
    var type: String?
    for line in mounts.utf8.split(separator: UInt8(ascii: "\n")) {
        // device, mount point, type, options, two numbers
        let fields = line.split(separator: UInt8(ascii: " "))
        guard fields.count >= 3 else { continue }
        let point = unescaped(fields[1])
        if point.utf8.count >= length, holds(point, path) {
            length = point.utf8.count
            type = String(fields[2])
        }
    }
    return type.flatMap { networkTypes.contains($0) ? $0 : nil }
}

private func holds(_ point: String, _ path: String) -> Bool {
    point == "/" || path == point || path.utf8.starts(with: (point + "/").utf8)
}

/// The table writes a space in a path as `\040` (a backslash and three octal digits); likewise tab, newline and
/// backslash.
private func unescaped(_ field: Substring.UTF8View) -> String {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
        let digits = rest.prefix(3)
        if byte == UInt8(ascii: "\\"), digits.count == 3, let value = UInt8(String(Substring(digits)), radix: 8) {
            bytes.append(value)
            rest = rest.dropFirst(3)
        } else {
            bytes.append(byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

#if os(Linux)
    /// Returns the path without links and dots, or that of its nearest existing parent.
    private func existingPath(_ path: String) -> String? {
        var path = path
        while true {
            if let resolved = realpath(path, nil) {
                defer { free(resolved) }
                return String(cString: resolved)
            }
            guard errno == ENOENT, path != "/", path != "." else { return nil }
            guard let slash = path.lastIndex(of: "/") else {
                path = "."
                continue
            }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }

    /// Reads a file of the system whose size is not known in advance.
    private func wholeFile(_ path: String) -> String? {
        let descriptor = openDescriptor(path, flags: O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            while true {
                let count = retrying { read(descriptor, buffer.baseAddress, buffer.count) }
                if count < 0 { return nil }
                if count == 0 { return String(decoding: bytes, as: UTF8.self) }
                bytes.append(contentsOf: buffer.prefix(count))
            }
        }
    }
#endif
