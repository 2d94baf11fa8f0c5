// Every small kind of damage at every place: truncated anywhere, any bit flipped, any sector zeroed, frames
// exchanged, duplicated and removed, files missing, exchanged and foreign. One rule for all: either what was written
// is read, or the damage is reported; never fewer records without an error, never others, never a trap (invariants
// 12, 14, 18, 21).

import LogTesting
import SegmentLog

struct SweepTorture {
    /// The counts of a sweep.
    struct Count {
        var cases = 0
        /// The number noticed by the reader, by the writer, and by verification.
        var reader = 0
        var writer = 0
        var verification = 0
        /// The number that changed nothing important: the same records, and no error.
        var harmless = 0
    }

    let corpus: SweepCorpus
    var count = Count()
    private var failures: [String] = []

    private init(_ corpus: SweepCorpus) {
        self.corpus = corpus
    }

    /// Sweeps a corpus completely, and throws what was wrong on the way.
    static func sweep(_ ending: SweepCorpus.Ending, _ body: (inout SweepTorture) throws -> Void) throws -> Count {
        var sweep = SweepTorture(try SweepCorpus(ending))
        try body(&sweep)
        if !sweep.failures.isEmpty {
            throw TortureFailure(
                "\(sweep.failures.count) of \(sweep.count.cases) cases:\n"
                    + sweep.failures.prefix(12).joined(separator: "\n"))
        }
        return sweep.count
    }

    /// Truncates each file at every byte.
    static func truncations(_ ending: SweepCorpus.Ending, stride: Int = 1) throws -> Count {
        try sweep(ending) { sweep in
            for name in sweep.corpus.files {
                let whole = sweep.contents(name)
                for length in Swift.stride(from: 0, to: whole.count, by: stride) {
                    sweep.check(name, Array(whole[..<length]), "cut to \(length)")
                }
            }
        }
    }

    /// Flips each bit of a file, or every `stride`th.
    static func bitFlips(_ ending: SweepCorpus.Ending, file index: Int, stride: Int = 1) throws -> Count {
        try sweep(ending) { sweep in
            let name = sweep.corpus.files[index]
            let whole = sweep.contents(name)
            for bit in Swift.stride(from: 0, to: whole.count * 8, by: stride) {
                var bytes = whole
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                // A writer checks the ends, the headers and the last segment. A reader retries at the end, which is
                // slow. Where the one sees little or the other much, a sample must be sufficient.
                let isLast = name == sweep.corpus.segments.last
                let isSample = bit % 8 == bit / 8 % 8
                sweep.check(
                    name, bytes, "bit \(bit % 8) of byte \(bit / 8) flipped",
                    reads: isSample || !isLast && name.hasSuffix(".seg"),
                    opens: isLast || !name.hasSuffix(".seg") || isSample)
            }
        }
    }

    /// Zeroes each sector of each file, and each run of two.
    static func sectorZeroing(_ ending: SweepCorpus.Ending) throws -> Count {
        try sweep(ending) { sweep in
            for name in sweep.corpus.files {
                let whole = sweep.contents(name)
                for start in Swift.stride(from: 0, to: whole.count, by: Format.sector) {
                    for length in [Format.sector, 2 * Format.sector] {
                        var bytes = whole
                        for index in start..<min(start + length, bytes.count) { bytes[index] = 0 }
                        if bytes != whole { sweep.check(name, bytes, "\(length) bytes at \(start) zeroed") }
                    }
                }
            }
        }
    }

    /// Exchanges, duplicates and removes frames.
    static func frameShuffles(_ ending: SweepCorpus.Ending) throws -> Count {
        try sweep(ending) { sweep in
            var frames: [UInt64: [Range<Int>]] = [:]
            _ = try LogVerification(sweep.corpus.tree).run { frame in
                let start = Int(frame.position.offset)
                frames[frame.position.segment, default: []].append(start..<start + Int(frame.length.rawValue))
            }
            for name in sweep.corpus.segments {
                let whole = sweep.contents(name)
                guard let places = FileName.parseSegment(name).flatMap({ frames[$0.ordinal] }) else { continue }
                for (index, place) in places.enumerated() {
                    let (before, frame, after) = (whole[..<place.lowerBound], whole[place], whole[place.upperBound...])
                    sweep.check(name, Array(before + after), "frame \(index) removed")
                    sweep.check(name, Array(before + frame + frame + after), "frame \(index) doubled")
                    let zeros = [UInt8](repeating: 0, count: place.count)
                    sweep.check(name, Array(before + zeros + after), "frame \(index) zeroed")
                    for other in places[(index + 1)...] {
                        let between = whole[place.upperBound..<other.lowerBound]
                        let exchanged = before + whole[other] + between + frame + whole[other.upperBound...]
                        sweep.check(
                            name, Array(exchanged), "frames at \(place.lowerBound) and \(other.lowerBound) exchanged")
                    }
                }
            }
        }
    }

    // MARK: One case

    func contents(_ name: String) -> [UInt8] { corpus.tree.contents(of: name) ?? [] }

    mutating func check(_ name: String, _ bytes: [UInt8], _ what: String, reads: Bool = true, opens: Bool = true) {
        let tree = corpus.tree.copy()
        tree.setContents(bytes, of: name)
        check(tree, "\(name): \(what)", reads: reads, opens: opens)
    }

    /// Compares what a reader, a verification and a writer find in a damaged log with what it had.
    mutating func check(_ tree: MemoryStorage, _ what: String, reads: Bool = true, opens: Bool = true) {
        count.cases += 1
        do {
            let isHealthy = try verify(tree)
            // Verification and a reader must agree, so a silent one is compared with what is read.
            if reads || isHealthy {
                let error = try read(tree, "a reader")
                if error != nil { count.reader += 1 }
                if isHealthy, let error {
                    throw TortureFailure("a reader stops (\(error)) where verification finds nothing")
                }
            }
            let refused = try opens && !open(tree, reads: reads)
            if isHealthy && !refused { count.harmless += 1 }
        } catch {
            failures.append("\(what): \(error)")
        }
    }

    mutating func fail(_ message: String) { failures.append(message) }

    /// A reader finds either everything, or a beginning and an error.
    private func read(_ tree: MemoryStorage, _ who: String) throws -> LogError? {
        let known = corpus.reading
        let (reading, count) = try TortureReader.compare(tree, with: known)
        if reading.error == nil {
            try require(
                reading.first == known.first && count == known.records.count && reading.holes == known.holes,
                "\(who) finds \(count) records from @\(reading.first) and holes \(reading.holes) without a complaint, not "
                    + "\(known.records.count) from @\(known.first) and \(known.holes)")
        } else if count > 0 {
            try require(reading.first == known.first, "\(who) begins with @\(reading.first)")
        }
        return reading.error
    }

    /// Whether verification finds nothing but a missing HEAD.
    private mutating func verify(_ tree: MemoryStorage) throws -> Bool {
        do throws(LogError) {
            let report = try LogVerification(tree).run()
            if !report.isHealthy { count.verification += 1 }
            return report.damage.allSatisfy {
                $0.file == FileName.head && $0.remedy == .rebuild && $0.length.rawValue == 0
            }
        } catch {
            count.verification += 1
            return false
        }
    }

    /// Whether a writer opens it. If not, it must have changed nothing. If so, it must continue after the last
    /// record, and the records must be the same, or damaged where opening does not look.
    private mutating func open(_ tree: MemoryStorage, reads: Bool) throws -> Bool {
        let before = tree.copy()
        let writer: LogWriter
        do throws(LogError) {
            writer = try LogWriter.small(tree, creating: .never)
        } catch {
            count.writer += 1
            try require(error.hint != nil, "\(error.code) has no hint")
            for name in before.allNames().files where name.hasSuffix(".seg") || name == FileName.head {
                try require(
                    tree.contents(of: name) == before.contents(of: name), "a writer that refused changed \(name)")
            }
            return false
        }
        let last = corpus.reading.holes.reduce(corpus.reading.last) { $0 + $1.count }
        try require(
            writer.lastSequence.rawValue == last, "a writer continues after \(writer.lastSequence), not @\(last)")
        if reads { _ = try read(tree, "a reader after a writer") }
        return true
    }
}
