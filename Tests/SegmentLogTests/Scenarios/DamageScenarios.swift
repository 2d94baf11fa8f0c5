// Bytes of acknowledged records change, or files go. Whatever it is, a writer refuses the log and leaves it as it is.

import SegmentLog

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
        Scenario("something was written behind the end of a log that was closed") {
            let log = try StoryLog { writer in
                try writer.append(StoryLog.batch("one"))
                try writer.close()
            }
            log.bytes += [UInt8](repeating: 7, count: 20)
            try log.mustBeRefused("bytes behind a clean end")
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
        Scenario("the end of a sealed segment is not what its successor was written behind") {
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
            let writer = try StoryLog.open(tree, acceleration: 65_536)
            for size in [300, 600, 1100, 2000] {
                var record = Array(noise(400, seed: UInt64(size)).wire.prefix(300))
                record += [UInt8](repeating: 0, count: size) + record
                try writer.append(RecordBatch(record))
            }
            let report = try LogVerification(tree).run(deep: true)
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
            let report = try LogVerification(log.tree).run(deep: true)
            try must(report.isHealthy && report.holes == salvage.lost, "\(report)")
        },
    ]

    /// Three sealed segments and the one that is written, all attested.
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
        var generator = SimulationGenerator(seed: seed)
        return RecordBatch((0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next() | 1) })
    }
}
