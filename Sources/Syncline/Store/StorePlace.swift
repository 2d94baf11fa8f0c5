// Tells a store from a copy of it: the same log in another directory or on another machine. The mark goes into the log with
// the first event of each process; where it is not the one the log has, this is a copy, and gets a name of its own.

import SegmentLog
import SynclineCore

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum StorePlace {
    /// The machine and the directory as one number; nil where the storage can't tell its directory.
    static func mark(_ storage: any LogStorage) -> String? {
        storage.place.map { String(hash64(of: machine + "/" + $0), radix: 16) }
    }

    /// The machine's own number; empty where the system tells none, as on Apple's: there a directory that was restored on
    /// another device is another file.
    private static var machine: String {
        let descriptor = open("/etc/machine-id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).filter { !$0.isNewline }
    }
}
