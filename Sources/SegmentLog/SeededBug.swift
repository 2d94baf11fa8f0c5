// Deliberate breakages, one switch each. They exist only in a build made with SYNCLINE_SEEDED_BUGS set, where a test
// turns on one after the other and shows that the suite catches it; elsewhere every switch is off at compile time.

package enum SeededBug: String, CaseIterable, Sendable {
    case adoptedNotSynced
    case attestedNotSynced
    case catalogNotRetried
    case chainNotCarried
    case chainNotChecked
    case checkpointAheadOfLog
    case checkpointNotSynced
    case checkpointNotVerified
    case checksumNotSeeded
    case cleanFlagIgnored
    case cleanFlagNotCleared
    case collectionIgnoresCheckpoint
    case collectionIgnoresNeed
    case collectionNewestFirst
    case collectionOffByOne
    case cutNotSynced
    case cutTailNotErased
    case dataNotSynced
    case dictionaryNotLoaded
    case directoryNotSynced
    case endOffByEight
    case endsNotChecked
    case epochNotRaised
    case everyTailIsTorn
    case failedSyncIsRetried
    case failedWriteNotCutBack
    case failureNotLatched
    case floorNotRaisedFirst
    case forkNotChecked
    case gapsNotChecked
    case headNotConsulted
    case headNotSynced
    case headUsesOneSlot
    case headerChecksumSkipsChain
    case headerChecksumSkipsLag
    case holeCountOff
    case indexEntryOff
    case lagAlwaysFull
    case lagAlwaysZero
    case leaseIgnoresFloor
    case leaseNotRechecked
    case leasesIgnored
    case leftoversKept
    case movedBehindTail
    case newFileNotSynced
    case olderSlotBelieved
    case paddingNotChecked
    case payloadChecksumStopsShort
    case payloadNotChecked
    case quarantineNotSynced
    case readErrorIsEnd
    case readerShowsUnfinished
    case readerShowsUnproven
    case readerSkipsLast
    case refusedBatchKept
    case replacementNotSeen
    case rollNotSynced
    case rollSkipsNumber
    case ruleZOff
    case sealForgotten
    case sealedNotCut
    case segmentNotRenamed
    case sequenceNotChecked
    case shortReadIsEnd
    case shortWriteIsWhole
    case syncBeforeWrite
    case tailNotAdopted
    case tailNotQuarantined
    case tearingNotSeen
    case timesMayFall
    case trailerNotChecked
    case transactionFlagsIgnored
    case unfinishedTransactionKept
    case watermarkIgnored
    case witnessIgnored

    #if SEEDED_BUGS
        @TaskLocal package static var active: SeededBug?
        package var isActive: Bool { SeededBug.active == self }
    #else
        @inline(__always) package var isActive: Bool { false }
    #endif
}
