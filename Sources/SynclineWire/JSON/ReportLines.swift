// The lines of a report, of a store or of a server: a head, events, and an end mark with the checksum of all lines.

import CChecksum
package import SynclineCore
import SynclineGround

package enum ReportLines {
    package static let version: Int64 = 2

    /// The first line.
    /// - Parameters:
    ///   - last: The number of the last event.
    ///   - lost: The addresses of events that could not be read.
    package static func head(through last: UInt64, lost: [String] = [], isMasked: Bool, now: Int64) -> [UInt8] {
        let names = ["report", "tool", "engine", "projector", "created", "masked", "through", "lost"]
        let values: [Value] = [
            .integer(version), .string(synclineVersion), .string(synclineVersion),
            .integer(Int64(Projector.version)), .string(Timestamp(.init(milliseconds: now)).description),
            .bool(isMasked), .integer(Int64(last)),
            .array(lost.map { .string($0) }),
        ]
        return Array(Value.object(zip(names, values).map { .init($0, $1) }).json.utf8)
    }

    /// The line of an event.
    package static func event(_ number: UInt64, _ record: UnsafeRawBufferPointer) -> [UInt8] {
        var line = Array("{\"address\":\"@\(number)\",\"record\":\"".utf8)
        line.reserveCapacity(2 * record.count + 64)
        Base64.append(record, to: &line)
        line += "\"}".utf8
        return line
    }
}

/// The checksum of lines, each with its end.
package struct LineChecksum {
    package private(set) var lines: Int64 = 0
    private var crc: UInt32 = 0
    private static let end: [UInt8] = [0x0a]

    package init() {}

    package mutating func add(_ line: [UInt8]) {
        lines += 1
        for bytes in [line, LineChecksum.end] {
            crc = bytes.withUnsafeBytes { cchecksum_crc32c(crc, $0.baseAddress, $0.count) }
        }
    }

    /// The line that marks the end of the file.
    package var endMark: Value {
        let text = Hexadecimal.text(crc, digits: 8)
        return .object([
            .init("end", .object([.init("lines", .integer(lines)), .init("crc32c", .string(text))]))
        ])
    }
}
