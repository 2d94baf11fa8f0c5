// A store or a report: commands that read accept either. A report is unpacked into a store in a folder that is removed
// with the command; the file itself is never written.

import CLibrary
import SynclineGround

/// The reports that a command has opened, each once.
package final class ReportShelf: Sendable {
    private let open = Mutex<[String: (report: Report, folder: ScratchFolder)]>([:])

    package init() {}

    /// The report in a file, whose lines are read through `watched`.
    func report(_ path: String, _ watched: (any LineSource) -> WatchedLines) throws -> Report {
        try open.withLock { open in
            if let known = open[path] { return known.report }
            let lines = watched(try FileLines(path))
            defer { lines.finish() }
            let folder = try ScratchFolder()
            let report = try ReportReading.read(lines, name: path, store: folder.path + "/store")
            open[path] = (report, folder)
            return report
        }
    }

    /// Removes what was made of them.
    package func putAway() { open.withLock { $0 = [:] } }

    /// Whether a path is that of a file, which can't be a store.
    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
