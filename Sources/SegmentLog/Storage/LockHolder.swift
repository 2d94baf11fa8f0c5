// The note in a lock file says which process holds the lock. It is only for people: an old note may remain in a file that
// no process has locked.

import CLibrary

/// Which process holds a log's lock, as its lock file says.
struct LockHolder {
    private let note: String

    /// Reads the note of a lock that is taken.
    init(in storage: any LogStorage) {
        let bytes = (try? WholeFile(FileName.lock, in: storage).read()) ?? nil
        let line = String(decoding: (bytes ?? []).prefix(128), as: UTF8.self).prefix { !$0.isNewline }
        note = String(line)
    }

    /// The holder in parentheses, after a space; empty if it is not known.
    var text: String { note.isEmpty ? "" : " (\(note))" }

    var isThisProcess: Bool { note == LockHolder.process || note.hasPrefix(LockHolder.process + ",") }

    /// The note of this process.
    static var note: String {
        let program = CommandLine.arguments.first?.split(separator: "/").last ?? ""
        return program.isEmpty ? process : "\(process), \(program)"
    }

    private static var process: String { "process \(getpid())" }
}

extension LogError {
    /// The error for a log whose lock a writer holds.
    static func locked(_ storage: any LogStorage) -> LogError {
        let holder = LockHolder(in: storage)
        if holder.isThisProcess {
            return LogError(
                .storeLocked, "this process already has \(storage.location) open", file: FileName.lock,
                hint: "Use the one that is open, or close it first; reading needs no lock.")
        }
        return LogError(
            .storeLocked, "another writer has \(storage.location) open\(holder.text)", file: FileName.lock,
            hint: "Close it there first; reading needs no lock.")
    }
}
