// The rule that tells a torn write from damage. Position alone does not decide: what later frames, HEAD and the zeros
// of a torn sector say decides. Pure, so that every row of the table is a test.

/// What was found where the last segment stops making sense.
package struct TailFacts: Hashable, Sendable {
    /// The next record expected there: if a transaction is unfinished, its first.
    package var sequence: SequenceNumber
    package var fault: FrameFault
    /// Nothing but zeros, or nothing at all, from there to the end of the file.
    package var onlyZerosFollow: Bool
    /// The frame shows a write that did not reach the disk whole: the file ends inside it, a sector's piece of it (of
    /// its header, if that can't be read) is all zero, or zeros stand where its trailer should.
    package var showsTearing: Bool
    /// Whole frames stand before it that begin a transaction nothing ends.
    package var transactionUnfinished: Bool
    /// The newest record that a later frame's header attests as durable.
    package var laterWitness: SequenceNumber
    /// The newest record that HEAD or the segment's header attests as durable.
    package var watermark: SequenceNumber
    /// HEAD says that the log was closed cleanly after its last write.
    package var closedCleanly: Bool
    /// The segment was sealed before this point.
    package var sealed: Bool

    package init(
        sequence: SequenceNumber, fault: FrameFault, onlyZerosFollow: Bool, showsTearing: Bool,
        transactionUnfinished: Bool, laterWitness: SequenceNumber, watermark: SequenceNumber, closedCleanly: Bool,
        sealed: Bool
    ) {
        self.sequence = sequence
        self.fault = fault
        self.onlyZerosFollow = onlyZerosFollow
        self.showsTearing = showsTearing
        self.transactionUnfinished = transactionUnfinished
        self.laterWitness = laterWitness
        self.watermark = watermark
        self.closedCleanly = closedCleanly
        self.sealed = sealed
    }
}

package enum TailVerdict: Hashable, Sendable {
    /// The log ends here.
    case clean
    /// A write that was never acknowledged: cut it off, keeping a copy.
    case torn
    /// Acknowledged data is damaged or missing: touch nothing.
    case corrupt(String)

    package init(_ facts: TailFacts) {
        if facts.fault.isNewer {
            self = .corrupt(facts.fault.reason)
        } else if facts.watermark >= facts.sequence {
            self = .corrupt("records through \(facts.watermark) were acknowledged but are not whole")
        } else if facts.laterWitness >= facts.sequence {
            self = .corrupt("a later frame shows that records through \(facts.laterWitness) were acknowledged")
        } else if facts.onlyZerosFollow && !facts.transactionUnfinished {
            self = .clean
        } else if facts.sealed {
            self = .corrupt("bytes follow the end of a sealed segment")
        } else if facts.closedCleanly {
            self = .corrupt("the log was closed cleanly, but its end is damaged: \(facts.fault.reason)")
        } else if facts.onlyZerosFollow || facts.showsTearing {
            self = .torn
        } else {
            self = .corrupt("\(facts.fault.reason), and nothing shows that the write was torn")
        }
    }
}
