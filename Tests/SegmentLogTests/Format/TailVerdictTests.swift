// The rule that distinguishes a torn write from damage, row by row (invariants 18 and 19).

import Testing

@testable import SegmentLog

@Suite("Where a log ends")
struct TailVerdictTests {
    /// A torn frame at record 10, without contrary evidence.
    private func torn(_ change: (inout TailFacts) -> Void = { _ in }) -> TailVerdict {
        var facts = TailFacts(
            sequence: SequenceNumber(rawValue: 10), fault: .payloadChecksum, onlyZerosFollow: false, showsTearing: true,
            transactionUnfinished: false, laterWitness: .none, watermark: SequenceNumber(rawValue: 9),
            closedCleanly: false,
            sealed: false)
        change(&facts)
        return TailVerdict(facts)
    }

    private func isCorrupt(_ verdict: TailVerdict) -> Bool {
        if case .corrupt = verdict { true } else { false }
    }

    @Test func `zeros after the last frame are a clean end`() {
        #expect(torn { $0.onlyZerosFollow = true } == .clean)
        #expect(torn { ($0.onlyZerosFollow, $0.closedCleanly) = (true, true) } == .clean)
        #expect(torn { ($0.onlyZerosFollow, $0.sealed) = (true, true) } == .clean)
    }

    @Test func `a frame with signs of tearing and without a witness is torn`() {
        #expect(torn() == .torn)
    }

    @Test func `a transaction without its end is torn, whatever follows`() {
        #expect(torn { ($0.onlyZerosFollow, $0.transactionUnfinished, $0.showsTearing) = (true, true, false) } == .torn)
    }

    @Test func `without signs of tearing it is damage`() {
        #expect(isCorrupt(torn { $0.showsTearing = false }))
    }

    @Test func `a witness makes it damage`() {
        #expect(isCorrupt(torn { $0.laterWitness = SequenceNumber(rawValue: 10) }))
        #expect(torn { $0.laterWitness = SequenceNumber(rawValue: 9) } == .torn)
    }

    @Test func `a watermark makes it damage, even if only zeros follow`() {
        #expect(isCorrupt(torn { $0.watermark = SequenceNumber(rawValue: 10) }))
        #expect(isCorrupt(torn { ($0.watermark, $0.onlyZerosFollow) = (SequenceNumber(rawValue: 10), true) }))
    }

    @Test func `a log that was closed cleanly, or sealed there, has no torn end`() {
        #expect(isCorrupt(torn { $0.closedCleanly = true }))
        #expect(isCorrupt(torn { $0.sealed = true }))
    }

    @Test func `a whole frame of an unknown kind is never cut`() {
        #expect(isCorrupt(torn { $0.fault = .unknownKind(77) }))
        #expect(isCorrupt(torn { $0.fault = .unknownCodec(5) }))
        // A newer version takes precedence over its being acknowledged.
        let newer = torn { ($0.fault, $0.watermark) = (.unknownKind(77), SequenceNumber(rawValue: 10)) }
        #expect(newer == .corrupt(FrameFault.unknownKind(77).reason))
    }
}
