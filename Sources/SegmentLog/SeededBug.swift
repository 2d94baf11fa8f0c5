// Deliberate breakages, one switch each. They exist only in a build made with SYNCLINE_SEEDED_BUGS set, where a test
// turns on one after the other and shows that the suite catches it; elsewhere every switch is off at compile time.

package enum SeededBug: String, CaseIterable, Sendable {
    case chainNotCarried
    case chainNotChecked
    case checkpointAheadOfLog
    case checkpointNotVerified
    case checksumNotSeeded
    case cleanFlagIgnored
    case cleanFlagNotCleared
    case collectionIgnoresCheckpoint
    case collectionIgnoresNeed
    case collectionNewestFirst
    case cutTailNotErased
    case dataNotSynced
    case directoryNotSynced
    case endOffByEight
    case endsNotChecked
    case everyTailIsTorn
    case failedSyncIsRetried
    case failedWriteNotCutBack
    case floorNotRaisedFirst
    case forkNotChecked
    case gapsNotChecked
    case headNotConsulted
    case headNotSynced
    case headUsesOneSlot
    case headerChecksumSkipsChain
    case headerChecksumSkipsLag
    case lagAlwaysFull
    case lagAlwaysZero
    case leasesIgnored
    case newFileNotSynced
    case paddingNotChecked
    case payloadChecksumStopsShort
    case payloadNotChecked
    case readErrorIsEnd
    case rollNotSynced
    case ruleZOff
    case sealedNotCut
    case sequenceNotChecked
    case shortReadIsEnd
    case shortWriteIsWhole
    case syncBeforeWrite
    case tailNotAdopted
    case tailNotQuarantined
    case trailerNotChecked
    case transactionFlagsIgnored
    case watermarkIgnored
    case witnessIgnored

    #if SEEDED_BUGS
        @TaskLocal package static var active: SeededBug?
        package var isActive: Bool { SeededBug.active == self }
    #else
        @inline(__always) package var isActive: Bool { false }
    #endif
}
