// A summary of a whole log.

/// A log in numbers: its segments, their sizes, and the damage.
package struct LogSummary: Sendable {
    package var location: String
    package var report: LogReport
    /// The number of files in quarantine.
    package var quarantined: Int

    /// The records the log has or should have.
    package var records: SequenceRange {
        guard let first = report.segments.first else { return SequenceRange(first: .first, last: .none) }
        return SequenceRange(first: first.records.first, last: report.segments.map(\.records.last).max() ?? .none)
    }

    /// The size of the intact frames and headers.
    package var length: ByteCount { .bytes(report.segments.reduce(0) { $0 + $1.length.rawValue }) }
    /// The size of the segments' files.
    package var fileSize: ByteCount { .bytes(report.segments.reduce(0) { $0 + $1.fileSize.rawValue }) }
    /// The size of the payloads before compression.
    package var rawLength: ByteCount { .bytes(report.segments.reduce(0) { $0 + $1.rawLength.rawValue }) }
    /// The compression ratio; nil if the log is empty.
    package var ratio: Double? { compressionRatio(raw: rawLength, stored: length) }
}

func compressionRatio(raw: ByteCount, stored: ByteCount) -> Double? {
    raw.rawValue == 0 || stored.rawValue == 0 ? nil : Double(raw.rawValue) / Double(stored.rawValue)
}

extension LogInspection {
    /// Reads the whole log and returns its summary.
    package func summary() throws(LogError) -> LogSummary {
        // A folder that does not exist or can't be read counts as empty.
        let kept = (try? storage.names(in: FileName.quarantine)) ?? []
        return LogSummary(location: storage.location, report: try verify(), quarantined: kept.count)
    }
}
