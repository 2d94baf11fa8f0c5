// The lines of a report, of a store or of a server: a head, events, and an end mark with the checksum of all lines.

import CChecksum
package import SynclineCore
import SynclineGround
import SynclineWire

/// Whole lines, each with its end.
package struct ReportLines: Sendable {
    package static let version: Int64 = 2

    package private(set) var bytes: [UInt8] = []
    package private(set) var count: Int64 = 0

    package init() {}

    package init(_ line: [UInt8]) { append(line) }

    /// The first line.
    /// - Parameters:
    ///   - last: The number of the last event.
    ///   - lost: The addresses of events that could not be read.
    package static func head(
        through last: UInt64, lost: [String] = [], isMasked: Bool, now: Int64
    ) -> ReportLines {
        let names = ["report", "tool", "engine", "projector", "created", "masked", "through", "lost"]
        let values: [Value] = [
            .integer(version), .string(synclineVersion), .string(synclineVersion),
            .integer(Int64(Projector.version)), .string(Timestamp(.init(milliseconds: now)).description),
            .bool(isMasked), .integer(Int64(last)),
            .array(lost.map { .string($0) }),
        ]
        return ReportLines(Array(Value.object(zip(names, values).map { .init($0, $1) }).json.utf8))
    }

    package mutating func append(_ line: [UInt8]) {
        bytes += line
        bytes.append(0x0a)
        count += 1
    }

    /// Appends the line of an event.
    package mutating func append(_ number: UInt64, _ record: UnsafeRawBufferPointer) {
        bytes += #"{"address":"@"#.utf8
        bytes += String(number).utf8
        bytes += #"","record":""#.utf8
        Base64.append(record, to: &bytes)
        bytes += "\"}\n".utf8
        count += 1
    }
}

/// The checksum of lines, each with its end.
package struct LineChecksum {
    package private(set) var lines: Int64 = 0
    private var crc: UInt32 = 0

    package init() {}

    package mutating func add(_ added: ReportLines) {
        lines += added.count
        crc = added.bytes.withUnsafeBytes { cchecksum_crc32c(crc, $0.baseAddress, $0.count) }
    }

    /// The line that marks the end of the file.
    package var endMark: Value {
        let text = Hexadecimal.text(crc, digits: 8)
        return .object([
            .init("end", .object([.init("lines", .integer(lines)), .init("crc32c", .string(text))]))
        ])
    }
}
