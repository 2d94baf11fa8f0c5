// The folder that a command reads or changes: a store, or the unpacked content of a report.

import SegmentLog
import Syncline

extension Context {
    /// The directory of the store that a call reads, or of the one made from its report.
    func path(reading arguments: Arguments) throws -> String {
        try path(reading: try StoreLocation.find(arguments, environment).path)
    }

    func path(reading path: String) throws -> String {
        ReportShelf.isFile(path) ? try report(path).store : path
    }

    /// The report in a file, unpacked.
    func report(_ path: String) throws -> Report {
        try host.reports.report(path) { watched($0, "unpacking") }
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
        if ReportShelf.isFile(path) { return try report(path).sessions }
        return TrafficSession.list(TrafficRecording.read(file: Traffic.file(store: path)))
    }
}
