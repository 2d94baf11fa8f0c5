// `inspect frame`: every byte of random frames, of damaged ones and of any bytes is in exactly one field.

import Foundation
import SegmentLog
import SynclineGround
import SynclineTesting
import Testing

@testable import SynclineTool

@Suite struct FrameBytesTests {
    /// Whether the fields of each part lie side by side, and how many bytes they have.
    static func sizes(_ bytes: FrameBytes) -> (frame: Int, payload: Int)? {
        var ends: [FrameField.Part: Int] = [:]
        for field in bytes.fields {
            guard field.offset == ends[field.part, default: 0], !field.bytes.isEmpty else { return nil }
            ends[field.part] = field.offset + field.bytes.count
        }
        return (ends[.frame] ?? 0, ends[.payload] ?? 0)
    }

    private static func record(_ chance: inout Chance) -> [UInt8] {
        let length =
            switch chance.below(400) {
            case 0: 1_000_000 + chance.below(1_500_000)
            case 1..<5: 60_000 + chance.below(200_000)
            case 5..<60: chance.below(3000)
            default: chance.below(60)
            }
        switch chance.below(3) {
        case 0: return [UInt8](repeating: 0, count: length)
        case 1: return [UInt8](repeating: UInt8(chance.below(256)), count: length)
        default: return chance.bytes(length)
        }
    }

    @Test func `each byte of a thousand random frames is in one field, and the records come back`() throws {
        let seed = Seeds.one(7)
        var chance = Chance(seed: seed)
        let log = try TestLog(empty: ())
        let writer = try log.open()
        var records: [[UInt8]] = []
        for index in 0..<1100 {
            var batch = RecordBatch()
            for _ in 0...chance.below(3) {
                records.append(Self.record(&chance))
                batch.append(records[records.count - 1])
            }
            try writer.append(batch, durability: .buffered)
            if index % 250 == 249 { try writer.roll() }
        }
        try writer.close()

        let storage = POSIXStorage(directory: log.path)
        let catalog = try LogInspection(storage).catalog()
        var (frames, found, open) = (0, [[UInt8]](), [UInt8]())
        var kinds: Set<FrameKind> = []
        for segment in catalog.segments {
            let data = [UInt8](try Data(contentsOf: log.url(segment.name)))
            var before = FrameBytes.Before(chain: segment.header?.previousChain)
            try LogInspection(storage).frames(FrameSelection(segment: segment.ordinal)) { entry in
                guard case .item(let entry) = entry else { throw CocoaError(.fileReadCorruptFile) }
                let start = Int(entry.summary.position.offset)
                let frame = Array(data[start..<(start + Int(entry.summary.length.rawValue))])
                let bytes = FrameBytes(frame, seed: catalog.identity.seed, after: before)
                let payload = try #require(bytes.payload, "seed \(seed), \(entry.summary.position)")
                let sizes = try #require(Self.sizes(bytes), "seed \(seed), \(entry.summary.position)")
                try #require(sizes == (frame.count, payload.count), "seed \(seed), \(entry.summary.position)")
                try #require(!bytes.fields.contains { $0.isRight == false }, "seed \(seed), \(entry.summary.position)")
                try #require(!bytes.fields.contains { $0.name.contains("without meaning") }, "seed \(seed)")
                for field in bytes.fields where field.part == .payload {
                    if field.name.hasPrefix("part of record") { open += field.bytes }
                    // An empty record has no bytes.
                    if field.name.hasPrefix("length of record"), field.value == "0" { found.append([]) }
                    if field.name.hasPrefix("record @") { found.append(Array(field.bytes)) }
                    if field.name.hasPrefix("end of record") {
                        found.append(open + field.bytes)
                        open = []
                    }
                }
                if let kind = entry.summary.kind { kinds.insert(kind) }
                frames += 1
                before = FrameBytes.Before(chain: bytes.header?.checksum, pending: bytes.pending)
            }
        }
        #expect(frames >= 1000 && found == records, "seed \(seed): \(frames) frames, \(found.count) records")
        #expect(kinds == [.data, .session, .index, .seal, .fragment])
    }

    @Test func `any other bytes are in one field each, too`() throws {
        let log = try TestLog()
        let data = [UInt8](try Data(contentsOf: log.url(TestLog.firstSegment)))
        let seed = try LogInspection(POSIXStorage(directory: log.path)).catalog().identity.seed
        var chance = Chance(seed: 3)
        for round in 0..<2000 {
            // A flipped bit, a cut, or nonsense.
            var bytes = Array(data[512...].prefix(chance.below(300)))
            if round % 3 == 0 { bytes = bytes.map { _ in UInt8(chance.below(256)) } }
            if !bytes.isEmpty { bytes[chance.below(bytes.count)] ^= 1 << UInt8(chance.below(8)) }
            let fields = FrameBytes(bytes, seed: seed)
            #expect(
                Self.sizes(fields)?.frame == bytes.count && Self.sizes(fields)?.payload == fields.payload?.count ?? 0,
                "\(bytes)")
        }
        #expect(FrameBytes([], seed: seed).fields.isEmpty)
    }

    @Test func `a frame is shown with its checks and its event`() async throws {
        let log = try TestLog.story()
        let frame = await Call.tool("inspect", "frame", "@5", "--bytes", on: log)
        #expect(frame.exit == .done, "\(frame.output)\(frame.errors)")
        #expect(
            frame.output.contains("local: insert todoitem/c, update todoitem/a") && frame.output.contains("d746524d"))
        let fields = try await Call.tool("inspect", "frame", "s1:512", "--json", on: log).array()
        #expect(fields.first?["field"] as? String == "magic" && fields.first?["right"] as? Bool == true)
        #expect(await Call.tool("inspect", "frame", "@99", on: log).exit != .done)
        #expect(await Call.tool("inspect", "frame", "s9:0", on: log).exit != .done)
        #expect(await Call.tool("inspect", "frame", "nonsense", on: log).exit == .usage)
    }

    @Test func `damage shows which field is wrong`() async throws {
        let log = try TestLog.story()
        try log.flip("oat milk", in: TestLog.firstSegment)
        let places = try await Call.tool("inspect", "frames", "--json", on: log).array()
        let place = try #require(places.first { $0["damage"] != nil }?["address"] as? String)
        let frame = await Call.tool("inspect", "frame", place, on: log)
        #expect(frame.exit == .no, "\(frame.output)")
        let wrong = frame.output.split(separator: "\n").filter { $0.contains("wrong") }
        #expect(wrong.count >= 1 && wrong[0].contains("stored payload"), "\(frame.output)")
    }
}
