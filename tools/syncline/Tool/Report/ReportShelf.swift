// A store or a report: commands that read accept either. A report is unpacked into a store in a folder that is removed
// with the command; the file itself is never written.

import SegmentLog
import Syncline
import SynclineCore
import SynclineGround
import SynclineInspect
import SynclineWire

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The reports that a command has opened, each once.
package final class ReportShelf: Sendable {
    private let open = Mutex<[String: (report: Report, folder: ScratchFolder)]>([:])

    package init() {}

    /// The report in a file.
    func report(_ path: String, _ context: Context) throws -> Report {
        try open.withLock { open in
            if let known = open[path] { return known.report }
            let lines = context.watched(try FileLines(path), "unpacking")
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

extension Context {
    /// The directory of the store that a call reads, or of the one made from its report.
    func path(reading arguments: Arguments) throws -> String {
        try path(reading: try StoreLocation.find(arguments, environment).path)
    }

    func path(reading path: String) throws -> String {
        ReportShelf.isFile(path) ? try host.reports.report(path, self).store : path
    }

    /// The directory of the store that a call changes, which can't be a report.
    func path(changing arguments: Arguments) throws -> String {
        let path = try StoreLocation.find(arguments, environment).path
        guard !ReportShelf.isFile(path) else {
            throw ToolError(
                "no-store", "\(escaped(path)) is a report, not a store; reports are read-only",
                hint: "`syncline import --store DIR < FILE` creates a store from a report.")
        }
        return path
    }

    /// The files of the store that a call reads.
    func storage(_ arguments: Arguments) throws -> POSIXStorage {
        POSIXStorage(directory: try path(reading: arguments))
    }

    /// The recorded traffic of a store or of a report.
    func traffic(_ arguments: Arguments) throws -> [TrafficSession] {
        let path = try StoreLocation.find(arguments, environment).path
        if ReportShelf.isFile(path) { return try host.reports.report(path, self).sessions }
        return TrafficSession.list(TrafficRecording.read(file: Traffic.file(store: path)))
    }
}

/// A temporary folder.
final class ScratchFolder: Sendable {
    let path: String

    init() throws(ToolError) {
        var template = Array((getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp").utf8CString.dropLast())
        template += Array("/syncline-report.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let error = StorageError(number: errno, operation: "mkdtemp", name: "a temporary directory")
            throw ToolError(LogError(error))
        }
        path = template.withUnsafeBufferPointer {
            String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        Leftovers.add(path)
    }

    deinit { Leftovers.discard(path) }
}
