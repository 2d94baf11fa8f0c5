// Converts the system's error numbers to storage errors. Every storage uses this one table, so that a simulated
// error reads like a real one.

import CLibrary

extension StorageError {
    /// Creates the error of a failed call from its error number.
    package init(number: Int32, operation: String, name: String) {
        self.init(
            Kind(number: number), operation: operation, name: name, number: number,
            reason: StorageError.words(for: number))
    }

    /// Creates an error of a kind, with the number that a system would most likely return.
    package init(simulating kind: Kind, operation: String, name: String) {
        self.init(
            kind, operation: operation, name: name, number: kind.usualNumber,
            reason: StorageError.words(for: kind.usualNumber))
    }

    /// The failure in words that name no call of the system.
    package var sentence: String { "\(StorageError.actions[operation] ?? operation) failed: \(reason)" }

    private static let actions = [
        "open": "opening", "read": "reading", "write": "writing", "sync": "syncing", "lock": "locking",
        "list": "listing", "remove": "removing", "rename": "renaming", "resize": "resizing", "size": "measuring",
        "stat": "looking it up", "createDirectory": "creating the directory",
        "syncDirectory": "syncing the directory", "removeDirectory": "removing the directory",
        "findDirectory": "finding the working directory",
    ]

    /// Returns the system's message for an error number. Avoids `strerror`, which may share one buffer between
    /// threads.
    private static func words(for number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let text = buffer.baseAddress, strerror_r(number, text, buffer.count) == 0 else {
                return "error \(number)"
            }
            return String(cString: text)
        }
    }
}

extension StorageError.Kind {
    init(number: Int32) {
        switch number {
        case ENOENT: self = .notFound
        case EEXIST: self = .exists
        case EACCES, EPERM: self = .permission
        case ENOTDIR: self = .notADirectory
        case EROFS: self = .readOnly
        case ENOSPC, EDQUOT: self = .diskFull
        case EIO: self = .inputOutput
        default: self = .other
        }
    }

    var usualNumber: Int32 {
        switch self {
        case .notFound: ENOENT
        case .exists: EEXIST
        case .permission: EACCES
        case .notADirectory: ENOTDIR
        case .readOnly: EROFS
        case .diskFull: ENOSPC
        case .inputOutput: EIO
        case .other: EINVAL
        }
    }
}
