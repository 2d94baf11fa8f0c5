// Bytes of acknowledged records change, or files disappear. In every case a writer refuses the log and leaves it
// unchanged.

import LogTesting
import SegmentLog
import SynclineGround

extension Scenario {
    static let damage: [Scenario] = [
        Scenario("one bit of any byte of an attested frame is turned over") {
            let log = try StoryLog { writer in
                try writer.append(StoryLog.batch("the first", "of all records", "abc"))
                try writer.append(StoryLog.batch(String(repeating: "to be compressed, ", count: 20)))
                try writer.append(StoryLog.batch("last"))
                try writer.attest()
            }
            for index in 512..<log.bytes.count {
                let damaged = log.copy()
                damaged.bytes[index] ^= 1 << UInt8(index % 8)
                try damaged.mustBeRefused("bit \(index % 8) of byte \(index)")
            }
        },
        Scenario("one bit of the newest frame is turned over, before anything attests it") {
            let log = try StoryLog { writer in
                try writer.append(StoryLog.batch("before"))
                try writer.append(StoryLog.batch("the newest of all"))
            }
            for index in try log.dataFrames()[1].range {
                let damaged = log.copy()
                damaged.bytes[index] ^= 1 << UInt8(index % 8)
                try damaged.mustBeRefused("bit \(index % 8) of byte \(index)")
            }
        },
        Scenario("a damaged frame is followed by a copy of an earlier one") {
            let log = try StoryLog { writer in
                for number in 1...4 { try writer.append(StoryLog.batch("record \(number) of four")) }
                try writer.close()
            }
            let frames = try log.dataFrames()
            log.bytes.insert(contentsOf: log.bytes[frames[0].range], at: frames[2].range.lowerBound)
            log.bytes[frames[1].range.lowerBound + 44] ^= 1
            let report = try LogVerification(log.tree).run()
            let lost = report.damage.filter { $0.remedy == .salvage }.compactMap(\.records)
            try must(lost.map(\.description) == ["@2"], "\(report.damage)")
            try log.mustBeRefused("a copy after damage")
        },
        Scenario("a sector of a frame is lost that a later frame attests") {
            let log = try StoryLog { writer in
                try writer.append(noise(2000, seed: 1))
                try writer.append(noise(2000, seed: 2))
            }
            log.bytes.replaceSubrange(1024..<1536, with: repeatElement(0, count: 512))
            try log.mustBeRefused("a lost sector")
        },
        Scenario("a sector of the newest frame is lost that HEAD attests") {
            let log = try StoryLog { writer in
                try writer.append(noise(2000, seed: 1))
                try writer.attest()
            }
            log.bytes.replaceSubrange(1024..<1536, with: repeatElement(0, count: 512))
            try log.mustBeRefused("a lost sector")
        },
        Scenario("something was written after the end of a log that was closed") {
            let log = try StoryLog { writer in
                try writer.append(StoryLog.batch("one"))
                try writer.close()
            }
            log.bytes += [UInt8](repeating: 7, count: 20)
            try log.mustBeRefused("bytes after a clean end")
        },
        Scenario("a segment is missing, wherever it stood") {
            let log = try threeSegments()
            let names = log.tree.allNames().files.filter { $0.hasSuffix(".seg") }.sorted()
            try must(names.count == 4, "\(names)")
            for name in names {
                let damaged = log.copy()
                try damaged.tree.remove(name)
                try damaged.mustBeRefused("without \(name)")
            }
        },
        Scenario("the end of a sealed segment is not the one that its successor states") {
            let log = try threeSegments()
            for cut in [1, 8, 88, 89] {
                let damaged = log.copy()
                damaged.bytes.removeLast(cut)
                try damaged.mustBeRefused("\(cut) bytes cut")
            }
            let damaged = log.copy()
            damaged.bytes[log.bytes.count - 60] ^= 1
            try damaged.mustBeRefused("another seal")
        },
        Scenario("no piece of a frame is zero, however the records look") {
            let tree = MemoryStorage()
            let writer = try StoryLog.open(tree, compresses: false)
            for size in [300, 600, 1100, 2000] {
                var record = Array(noise(400, seed: UInt64(size)).wire.prefix(300))
                record += [UInt8](repeating: 0, count: size) + record
                try writer.append(RecordBatch(record))
            }
            let report = try LogVerification(tree).run()
            try must(report.isHealthy, "\(report.damage)")
            for frame in try StoryLog(tree).frames() {
                let bytes = StoryLog(tree).bytes
                var start = frame.range.lowerBound
                while start < frame.range.upperBound {
                    let end = min(frame.range.upperBound, (start / 512 + 1) * 512)
                    try must(bytes[start..<end].contains { $0 != 0 }, "bytes \(start)..<\(end) are zero")
                    start = end
                }
            }
        },
        Scenario("an index that is damaged or wrong is covered, and the segment scanned") {
            let log = try threeSegments()
            let index = try log.frames().first { $0.header.knownKind == .index }
            guard let index else { throw ScenarioFailure("no index") }
            let expected = try StoryLog.records(log.tree)
            for place in [index.range.lowerBound + 12, index.range.lowerBound + 44, index.range.upperBound + 44] {
                let damaged = log.copy()
                damaged.bytes[place] ^= 1
                let found = try LogVerification(damaged.tree).run().damage
                try must(found.count == 1 && found[0].remedy == .rebuild, "byte \(place): \(found)")
                try LogHealing(damaged.tree).mendDerived()
                try must(try LogVerification(damaged.tree).run().isHealthy, "byte \(place) is not mended")
                try must(try StoryLog.records(damaged.tree) == expected, "byte \(place): other records")
                _ = try StoryLog.open(damaged.tree)
            }
            // Intact, and wrong: it counts one frame too many.
            let wrong = log.copy()
            let stored = index.range.lowerBound + 40..<index.range.lowerBound + 40 + Int(index.header.storedLength)
            try must(index.header.codec == .stored, "the index is compressed")
            wrong.bytes[stored.lowerBound + 4] += 1
            var header = index.header
            header.payloadChecksum = Array(wrong.bytes[stored]).withUnsafeBytes { crc32c($0) }
            let seed = try LogCatalog(log.tree).identity.seed
            let chain = header.checksum
            var frame = Array(wrong.bytes[index.range])
            header.checksum = frame.withUnsafeMutableBytes { header.encode(into: $0, seed: seed) }
            wrong.bytes.replaceSubrange(index.range, with: frame)
            try must(header.checksum != chain, "nothing was forged")
            try must(try !LogVerification(wrong.tree).run().isHealthy, "it is believed")
        },
        Scenario("a damaged session or index is covered, and then nothing is damaged") {
            let log = try threeSegments()
            let expected = try StoryLog.records(log.tree)
            let frames = try log.frames().filter { [.session, .index].contains($0.header.knownKind) }
            try must(frames.count == 2, "\(frames.map(\.header))")
            for frame in frames {
                let damaged = log.copy()
                damaged.bytes[frame.range.lowerBound + 12] ^= 1
                let found = try LogVerification(damaged.tree).run().damage
                try must(!found.isEmpty && found.allSatisfy(\.isRepairable), "\(frame.header): \(found)")
                try LogHealing(damaged.tree).mendDerived()
                let left = try LogVerification(damaged.tree).run().damage
                try must(left.isEmpty, "\(frame.header): \(left)")
                try must(try StoryLog.records(damaged.tree) == expected, "\(frame.header): other records")
                _ = try StoryLog.open(damaged.tree)
            }
        },
        Scenario("an index names frames that begin where it says") {
            let log = try StoryLog { writer in
                for seed in 1...6 { try writer.append(noise(20_000, seed: UInt64(seed))) }
                try writer.roll()
            }
            let window = FileWindow(try log.tree.reading(StoryLog.segment1), name: StoryLog.segment1)
            let seed = try LogCatalog(log.tree).identity.seed
            let index = try SegmentIndex(window, seed: seed, end: UInt64(log.bytes.count))
            let entries = index?.index.entries ?? []
            let frames = try log.dataFrames()
            try must(entries.count == 3, "\(entries)")
            for entry in entries {
                let isThere = frames.contains {
                    $0.range.lowerBound == Int(entry.offset) && $0.header.firstSequence == entry.sequence
                }
                try must(isThere, "no frame at \(entry)")
            }
        },
        Scenario("reading starts where an index points to what was healed over since") {
            let log = try StoryLog { writer in
                for seed in 1...6 { try writer.append(noise(20_000, seed: UInt64(seed))) }
                try writer.roll()
            }
            let frames = try log.dataFrames()
            for frame in frames[1...3] { log.bytes[frame.range.lowerBound + 100] ^= 1 }
            let lost = try LogHealing(log.tree).run { _ in true }
            try must(lost.map(\.count) == [3], "lost \(lost)")
            for first in 1...6 as ClosedRange<UInt64> {
                var cursor = try LogReader.open(log.tree).cursor(from: SequenceNumber(rawValue: first))
                var found: [UInt64] = []
                while try cursor.nextFrame() { cursor.forEachRecord { number, _ in found.append(number.rawValue) } }
                try must(found == [1, 5, 6].filter { $0 >= first }, "from \(first): \(found)")
            }
        },
        Scenario("what is missing is told with its segments and records") {
            let log = try threeSegments()
            let names = log.tree.allNames().files.filter { $0.hasSuffix(".seg") }.sorted()
            func damage(without lost: [String]) throws -> LogDamage? {
                let damaged = log.copy()
                for name in lost { try damaged.tree.remove(name) }
                return try LogVerification(damaged.tree).run().damage.first
            }
            func range(_ first: UInt64, _ last: UInt64) -> SequenceRange {
                SequenceRange(first: SequenceNumber(rawValue: first), last: SequenceNumber(rawValue: last))
            }
            let one = try damage(without: [names[1]])
            try must(one?.records == range(3, 4) && one?.position?.segment == 2, "\(one as Any)")
            let two = try damage(without: [names[1], names[2]])
            try must(two?.records == range(3, 6) && two?.reason.contains("2 to 3") == true, "\(two as Any)")
            let last = try damage(without: [names[3]])
            try must(last?.records == range(7, 7) && last?.position?.segment == 4, "\(last as Any)")
            let head = try damage(without: [FileName.head])
            try must(head?.file == FileName.head && head?.remedy == .rebuild, "\(head as Any)")
        },
        Scenario("a segment begins with another record than its predecessor ended with") {
            let log = try threeSegments()
            let names = log.tree.allNames().files.filter { $0.hasSuffix(".seg") }.sorted()
            guard var bytes = log.tree.contents(of: names[3]) else { throw ScenarioFailure("no last segment") }
            try log.tree.remove(names[3])
            bytes[32] += 1
            let sum = bytes.withUnsafeBytes { crc32c($0.slice(0, 508)) }
            for index in 0..<4 { bytes[508 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
            log.tree.setContents(bytes, of: FileName.segment(ordinal: 4, first: SequenceNumber(rawValue: 8)))
            let damage = try LogCatalog(log.tree).damage
            try must(damage.contains { $0.reason.contains("first record") }, "\(damage)")
        },
        Scenario("a segment is there twice, and each file lacks what the other one has") {
            let log = try StoryLog { writer in
                try writer.append(StoryLog.batch("one", "two"))
                try writer.append(StoryLog.batch("three"))
                try writer.roll()
                try writer.append(StoryLog.batch("four"))
                try writer.attest()
            }
            let whole = try StoryLog.records(log.tree)
            let copy = FileName.segment(ordinal: 9, first: SequenceNumber(rawValue: 1000))
            log.tree.setContents(log.bytes, of: copy)
            try must(try StoryLog.records(log.tree) == whole, "\(try StoryLog.records(log.tree))")
            let damage = try LogVerification(log.tree).run().damage
            try must(damage.map(\.file) == [copy] && damage[0].isRepairable, "\(damage)")
            // The frame with the records of one file, and the frames after it of the other.
            let frame = try log.dataFrames()[0].range
            log.bytes[frame.lowerBound + 44] ^= 1
            guard var other = log.tree.contents(of: copy) else { throw ScenarioFailure("no copy") }
            other.removeSubrange(frame.upperBound...)
            log.tree.setContents(other, of: copy)
            for what in ["beside it", "in quarantine"] {
                let fresh = MemoryStorage()
                let salvage = try LogSalvage.copy(from: log.tree, to: fresh)
                try must(salvage.lost.isEmpty && salvage.endIsKnown, "\(what): \(salvage)")
                try must(try StoryLog.records(fresh) == whole, "\(what): \(try StoryLog.records(fresh))")
                // A writer takes the copy out of the way.
                _ = try StoryLog.open(log.tree)
                try must(log.tree.contents(of: copy) == nil, "the copy is still there")
            }
        },
        Scenario("the header of a segment is lost, and what HEAD said with it") {
            let log = try threeSegments()
            let whole = try StoryLog.records(log.tree)
            for name in log.tree.allNames().files.filter({ $0.hasSuffix(".seg") }) {
                let damaged = log.copy()
                guard var bytes = log.tree.contents(of: name) else { throw ScenarioFailure("no \(name)") }
                bytes[100] ^= 1
                damaged.tree.setContents(bytes, of: name)
                try must(try StoryLog.records(damaged.tree) == whole, "\(name) is not read")
                try damaged.mustBeRefused(name)
                guard var head = damaged.tree.contents(of: FileName.head) else { throw ScenarioFailure("no HEAD") }
                head[48] ^= 1
                damaged.tree.setContents(head, of: FileName.head)
                let salvage = try LogSalvage.copy(from: damaged.tree, to: MemoryStorage())
                try must(salvage.records == UInt64(whole.count) && !salvage.endIsKnown, "\(name): \(salvage)")
            }
        },
        Scenario("damage in the middle costs its own records and moves no other") {
            let log = try StoryLog { writer in
                for number in 1...9 {
                    try writer.append(StoryLog.batch("record \(2 * number - 1)", "record \(2 * number)"))
                }
                try writer.attest()
            }
            log.bytes[try log.dataFrames()[3].range.lowerBound + 44] ^= 1
            let fresh = MemoryStorage()
            let salvage = try LogSalvage.copy(from: log.tree, to: fresh)
            try must(
                salvage.lost == [SequenceRange(first: SequenceNumber(rawValue: 7), last: SequenceNumber(rawValue: 8))],
                "\(salvage)")
            let expected = (1...18).filter { $0 != 7 && $0 != 8 }.reduce(into: [:]) { $0[UInt64($1)] = "record \($1)" }
            try must(try StoryLog.records(fresh) == expected, "salvaged other records: \(try StoryLog.records(fresh))")
            var cursor = try LogReader.open(fresh).cursor()
            while try cursor.nextFrame() {
                try must(cursor.time == SimulationClock().now(), "salvaged with time \(cursor.time)")
            }
            let healed = try LogHealing(log.tree).run { _ in true }
            try must(healed == salvage.lost, "healed \(healed)")
            try must(try StoryLog.records(log.tree) == expected, "healed to other records")
            let report = try LogVerification(log.tree).run()
            try must(report.isHealthy && report.holes == salvage.lost, "\(report)")
        },
    ]

    /// Three sealed segments and the current one, all attested.
    static func threeSegments() throws -> StoryLog {
        try StoryLog { writer in
            for number in 1...3 {
                try writer.append(StoryLog.batch("in segment \(number)", "and more"))
                try writer.roll()
            }
            try writer.append(StoryLog.batch("the newest"))
            try writer.attest()
        }
    }

    static func noise(_ length: Int, seed: UInt64) -> RecordBatch {
        var generator = Chance(seed: seed)
        return RecordBatch((0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next() | 1) })
    }
}
