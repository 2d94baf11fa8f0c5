// The file that a report is written into, with its end mark.

import SynclineReports
import SynclineWire

struct ReportDraft {
    private var file: FileDraft
    private var checksum = LineChecksum()

    /// Bytes that were written.
    var size: UInt64 { file.size }

    init(_ path: String) throws {
        file = try FileDraft(path)
    }

    mutating func add(_ lines: ReportLines) throws {
        checksum.add(lines)
        try file.write(lines.bytes)
    }

    /// Ends the file and renames it, durably.
    mutating func finish() throws {
        try file.add(Array(checksum.endMark.json.utf8))
        try file.finish()
    }

    /// Removes the unfinished file.
    func giveUp() { file.giveUp() }
}
