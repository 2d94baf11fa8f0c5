// Sweeps over whole files: missing, exchanged, copied, renamed, taken from another log; derived files missing in
// every combination; and old bytes after the end.

import LogTesting
import SegmentLog

extension SweepTorture {
    /// Segments removed, exchanged, copied over each other, renamed, and replaced by those of other logs.
    static func fileLosses(_ ending: SweepCorpus.Ending) throws -> Count {
        try sweep(ending) { sweep in
            let foreign = try SweepCorpus(ending, seed: 2)
            let segments = sweep.corpus.segments
            for (index, name) in segments.enumerated() {
                let removed = sweep.corpus.tree.copy()
                try removed.remove(name)
                sweep.checkNoticed(removed, "\(name) removed")
                for other in segments where other != name {
                    sweep.check(name, sweep.contents(other), "replaced by \(other)")
                    let exchanged = sweep.corpus.tree.copy()
                    exchanged.setContents(sweep.contents(other), of: name)
                    exchanged.setContents(sweep.contents(name), of: other)
                    sweep.checkNoticed(exchanged, "\(name) and \(other) exchanged")
                }
                for stranger in foreign.segments {
                    sweep.check(
                        name, foreign.tree.contents(of: stranger) ?? [], "replaced by another log's \(stranger)")
                }
                guard let (ordinal, first) = FileName.parseSegment(name) else { continue }
                for newName in [
                    FileName.segment(ordinal: ordinal + UInt64(segments.count), first: first),
                    FileName.segment(ordinal: ordinal, first: first.next),
                ] {
                    let renamed = sweep.corpus.tree.copy()
                    try renamed.rename(name, to: newName)
                    sweep.checkNoticed(renamed, "\(name) renamed to \(newName)")
                    let copied = sweep.corpus.tree.copy()
                    copied.setContents(sweep.contents(name), of: newName)
                    sweep.checkNoticed(copied, "\(name) copied to \(newName) (\(index))")
                }
            }
        }
    }

    /// Every combination of derived files missing: the same records, or a refusal (invariant 21).
    static func derivedLosses(_ ending: SweepCorpus.Ending) throws -> Count {
        try sweep(ending) { sweep in
            let derived = sweep.corpus.derived
            for subset in 0..<1 << derived.count {
                let tree = sweep.corpus.tree.copy()
                for (index, name) in derived.enumerated() where subset >> index & 1 == 1 { try tree.remove(name) }
                let before = sweep.count.harmless
                sweep.check(tree, "derived files gone, subset \(subset) of \(derived)")
                if sweep.count.harmless == before {
                    sweep.fail("subset \(subset) of \(derived) gone made the log complain")
                }
            }
        }
    }

    /// Bytes of older frames, of other logs, or of anything after the end: the same records or an error.
    static func staleBytes(_ ending: SweepCorpus.Ending) throws -> Count {
        try sweep(ending) { sweep in
            let foreign = try SweepCorpus(ending, seed: 2)
            guard let name = sweep.corpus.segments.last, let stranger = foreign.segments.last else { return }
            let whole = sweep.contents(name)
            let end = (whole.lastIndex { $0 != 0 } ?? 0) + 1
            let donors = sweep.corpus.segments.map(sweep.contents) + [foreign.tree.contents(of: stranger) ?? []]
            for (index, donor) in donors.enumerated() {
                for start in Swift.stride(from: 512, to: donor.count, by: 8) {
                    var bytes = whole
                    bytes.resize(to: max(end + 512, whole.count))
                    for offset in 0..<min(512, donor.count - start) { bytes[end + offset] = donor[start + offset] }
                    let what = "bytes from \(start) on of file \(index) after the end"
                    sweep.check(name, bytes, what, reads: start % 64 == 0)
                }
            }
        }
    }

    /// Like `check`, but finding nothing is an error, too.
    private mutating func checkNoticed(_ tree: MemoryStorage, _ what: String) {
        let before = count.harmless
        check(tree, what)
        if count.harmless > before { fail("\(what): no damage is reported") }
    }
}
