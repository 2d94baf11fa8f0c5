// The rule that distinguishes a torn write from damage. It depends on later frames, HEAD and the zeros of a torn
// sector, not on the position alone. The rule is a pure function, so that every row of the table has a test.

/// The findings at the place where the last segment stops being valid.
package struct TailFacts: Hashable, Sendable {
    /// The next record expected there; if a transaction is incomplete, its first.
    package var sequence: SequenceNumber
    package var fault: FrameFault
    /// Whether only zeros, or nothing, follow to the end of the file.
    package var onlyZerosFollow: Bool
    /// Whether the frame shows an incomplete write: the file ends inside it, a sector's piece of it (of its header,
    /// if that can't be read) is all zero, or its trailer is zero.
    package var showsTearing: Bool
    /// Whether complete frames before it begin a transaction that is never ended.
    package var transactionUnfinished: Bool
    /// The newest record that a later frame's header proves to be durable.
    package var laterWitness: SequenceNumber
    /// The newest record that HEAD or the segment's header proves to be durable.
    package var watermark: SequenceNumber
    /// Whether HEAD says that the log was closed cleanly after its last write.
    package var closedCleanly: Bool
    /// Whether the segment was sealed before this point.
    package var sealed: Bool
}

package enum TailVerdict: Hashable, Sendable {
    /// The log ends here.
    case clean
    /// A write that was never acknowledged: truncate it and keep a copy.
    case torn
    /// Acknowledged data is damaged or missing: change nothing.
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
