// Detects that a store is a copy: the same log in another directory or on another machine. Each process records the
// location's mark with its first event. If it differs from the last recorded one, this is a copy and gets its own
// device name.

import CLibrary
import SegmentLog
import SynclineCore

enum StorePlace {
    /// Returns the machine and the directory as one number; nil if the storage can't identify its directory.
    static func mark(_ storage: any LogStorage) -> String? {
        storage.place.map { String(hash64(of: machine + "/" + $0), radix: 16) }
    }

    /// The machine's id. Empty if the system has none, as on Apple platforms: there, a directory restored on another
    /// device has another file id.
    private static var machine: String {
        let descriptor = open("/etc/machine-id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).filter { !$0.isNewline }
    }
}
