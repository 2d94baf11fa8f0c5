// Compares docs/FORMAT.md with the code: the worked bytes are what the writer writes, and the numbers in its tables
// are those of `Format`. SYNCLINE_UPDATE_DOCS=1 writes the worked bytes into the document instead.

import Foundation
import SegmentLog
import SynclineGround
import Testing

@Suite struct FormatDocumentTests {
    private static let document = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../docs/FORMAT.md").standardizedFileURL
    private static let begin = "<!-- worked bytes: begin (written by a test) -->\n"
    private static let end = "<!-- worked bytes: end -->"

    @Test func `the worked bytes are what a writer makes`() throws {
        var text = try String(contentsOf: FormatDocumentTests.document, encoding: .utf8)
        let begin = try #require(text.range(of: FormatDocumentTests.begin))
        let end = try #require(text.range(of: FormatDocumentTests.end))
        let block = "```\n" + (try workedBytes()) + "```\n"
        if ProcessInfo.processInfo.environment["SYNCLINE_UPDATE_DOCS"] == "1" {
            text.replaceSubrange(begin.upperBound..<end.lowerBound, with: block)
            try text.write(to: FormatDocumentTests.document, atomically: true, encoding: .utf8)
        } else {
            #expect(text[begin.upperBound..<end.lowerBound] == block[...])
        }
    }

    @Test func `the numbers in the document are those of the code`() throws {
        let text = try String(contentsOf: FormatDocumentTests.document, encoding: .utf8)
        func says(_ words: String, _ location: SourceLocation = #_sourceLocation) {
            #expect(text.contains(words), "\(words)", sourceLocation: location)
        }
        func hex(_ bytes: [UInt8]) -> String {
            bytes.map { Hexadecimal.text(UInt64($0), digits: 2).uppercased() }.joined(separator: " ")
        }
        func hex(_ number: UInt32) -> String { hex((0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }) }
        func number(_ value: Int) -> String { value.formatted(.number.locale(Locale(identifier: "en_US"))) }

        says("Version \(Format.major).\(Format.minor).")
        says("magic: segment `\(hex(Format.segmentMagic))`, checkpoint `\(hex(Format.checkpointMagic))`")
        says("magic `\(hex(Format.headMagic))`")
        says("magic `\(hex(Format.leaseMagic))`")
        says("magic `\(hex(Format.frameMagic))`")
        says("trailer magic `\(hex(Format.trailerMagic))`")
        says("## Segment header: \(Format.segmentHeaderLength) bytes")
        says("## HEAD: two slots of \(Format.headSlotLength) bytes")
        says("stored length, at most \(number(Format.frameStoredLimit))")
        says("raw length, at most \(number(Format.frameRawLimit))")
        says("1 … \(number(Format.frameRecordLimit)) in a data frame")
        says("A record is any string of 0 … \(number(Format.recordLimit)) bytes")
        says("XORed with 0x\(Hexadecimal.text(UInt64(Format.mask), digits: 2).uppercased())")
        says("hold \(Format.zeroRunLimit) zeros in a row")
        says("its frame always has \(Format.sealFrameLength) bytes")
        says("costs \(Format.frameOverhead) bytes")
        let kinds: [(FrameKind, String)] = [
            (.data, "data"), (.session, "session"), (.block, "block"), (.index, "index"),
            (.seal, "seal"), (.hole, "hole"), (.fragment, "fragment"),
        ]
        for (kind, name) in kinds { says("| \(kind.rawValue) | \(name) |") }
        says("| \(FrameKind.filler) | filler |")
        says("| \(FrameKind.filler + 1) … 255 |")
    }

    // MARK: - Worked bytes

    private func workedBytes() throws -> String {
        let storage = MemoryStorage()
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        configuration.zeroAhead = .bytes(0)
        let writer = try LogWriter.open(
            storage, creating: .always, configuration: configuration, clock: StillClock())
        var batch = RecordBatch("hello".utf8)
        batch.append("world".utf8)
        try writer.append(batch)
        let bytes = try #require(storage.contents(of: "00000001-0000000000000001.seg"))

        var text = ""
        for offset in stride(from: 0, to: bytes.count, by: 16) {
            let line = bytes[offset..<min(bytes.count, offset + 16)]
            guard line.contains(where: { $0 != 0 }) else { continue }
            let hex = line.map { Hexadecimal.text(UInt64($0), digits: 2) }.joined(separator: " ")
            let names = fields(of: bytes).filter { line.indices.contains($0.offset) }.map(\.name)
            let row =
                Hexadecimal.text(UInt64(offset), digits: 4) + "  "
                + hex.padding(toLength: 47, withPad: " ", startingAt: 0)
            text += (names.isEmpty ? row : row + "  " + names.joined(separator: ", "))
            while text.last == " " { text.removeLast() }
            text += "\n"
        }
        return text
    }

    /// Where fields begin according to the tables.
    private func fields(of bytes: [UInt8]) -> [(offset: Int, name: String)] {
        var fields: [(Int, String)] = [
            (0, "magic"), (8, "major"), (10, "minor"), (12, "header length"), (16, "identity"), (32, "first record"),
            (40, "ordinal"), (48, "time"), (56, "features"), (64, "previous length"), (72, "chain"), (76, "epoch"),
            (80, "durable"), (508, "header CRC"),
        ]
        var at = 512
        while let frame = SecondFrame(bytes, at: at, seed: secondCRC(bytes[16..<32])) {
            let kind = frame.kind == 1 ? "data" : frame.kind == 3 ? "session" : "kind \(frame.kind)"
            fields += [
                (at, "frame magic"), (at + 4, "header checksum"), (at + 8, "stored length"), (at + 12, "raw length"),
                (at + 16, "first record"), (at + 24, "lag"), (at + 28, "count"), (at + 30, kind), (at + 31, "flags"),
                (at + 32, "payload CRC"), (at + 36, "chain"),
            ]
            if frame.codec != 0 {
                fields.append((at + 40, "LZ4 block: epoch 1, zero, the time, and that nothing was cut"))
            } else if frame.kind == 1 {
                fields += [(at + 40, "time")]
                var record = at + 48
                for _ in 0..<frame.count {
                    fields.append((record, "record"))
                    record += 1 + Int(bytes[record])
                }
            }
            fields += [(at + frame.length - 8, "trailer magic"), (at + frame.length - 4, "length")]
            at += frame.length
        }
        return fields
    }
}
