// Proves that damage is noticed everywhere. A small log with every feature is truncated at every byte, gets every
// bit flipped, sectors zeroed, frames and files shuffled; each time the records are the same or the damage is
// reported.

import LogTesting
import SegmentLog
import Testing

@Suite struct SweepTests {
    /// All without a debug build's checks; with them, a part that is not the same for all bits of a byte.
    private static let stride = TortureBudget.factor >= 1 ? 1 : 53

    @Test("Invariant 18: a log cut at any byte is the same or refused", arguments: SweepCorpus.Ending.allCases)
    func truncations(ending: SweepCorpus.Ending) throws {
        report("truncations", try SweepTorture.truncations(ending, stride: SweepTests.stride))
    }

    @Test("Invariant 12: flipping any bit of a log is noticed or changes no record", arguments: 0..<8)
    func bitFlips(file: Int) throws {
        let count = try SweepCorpus(.closed).files.count
        try #require(count == 8, "the corpus has \(count) files: adapt the arguments")
        report("bit flips, file \(file)", try SweepTorture.bitFlips(.closed, file: file, stride: SweepTests.stride))
    }

    @Test("Invariant 12: flipping any bit of the open segment is noticed once HEAD attests it")
    func bitFlipsInTheOpenSegment() throws {
        let corpus = try SweepCorpus(.attested)
        let last = try #require(corpus.files.firstIndex { $0 == corpus.segments.last })
        report("bit flips, attested", try SweepTorture.bitFlips(.attested, file: last, stride: SweepTests.stride))
    }

    @Test("Invariant 18: zeroed sectors in acknowledged data are damage", arguments: SweepCorpus.Ending.allCases)
    func sectorZeroing(ending: SweepCorpus.Ending) throws {
        report("zeroed sectors", try SweepTorture.sectorZeroing(ending))
    }

    @Test("Invariants 2, 11: frames exchanged, doubled or removed are noticed", arguments: SweepCorpus.Ending.allCases)
    func frameShuffles(ending: SweepCorpus.Ending) throws {
        report("frame shuffles", try SweepTorture.frameShuffles(ending))
    }

    @Test(
        "Invariants 2, 11: segments lost, exchanged, renamed or foreign are noticed",
        arguments: SweepCorpus.Ending.allCases)
    func fileLosses(ending: SweepCorpus.Ending) throws {
        report("file losses", try SweepTorture.fileLosses(ending))
    }

    @Test("Invariant 21: derived files can go in any combination", arguments: SweepCorpus.Ending.allCases)
    func derivedLosses(ending: SweepCorpus.Ending) throws {
        report("derived files lost", try SweepTorture.derivedLosses(ending))
    }

    @Test(
        "Invariants 11, 22: old and foreign bytes after the end are not read as records",
        arguments: SweepCorpus.Ending.allCases
    )
    func staleBytes(ending: SweepCorpus.Ending) throws {
        report("stale bytes", try SweepTorture.staleBytes(ending))
    }

    private func report(_ what: String, _ count: SweepTorture.Count) {
        print(
            "\(what): \(count.cases) cases; noticed by reader \(count.reader), verification \(count.verification), "
                + "writer \(count.writer); harmless \(count.harmless)")
        #expect(count.cases > 0)
    }
}
