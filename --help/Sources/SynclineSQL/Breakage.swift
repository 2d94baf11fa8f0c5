// The breakages, one switch each. A test turns on one of them for what it calls.
package enum Breakage: String, CaseIterable, Sendable {
    case conditionsNotChecked
    case entriesLackColumns
    case entryOfFirstColumn
    case entryWithoutItsRow
    case idRangeEndsEarly
    case madeIndexOfStringsOnly
    case mirrorGoesBack
    case mirrorRowsBeforeEvent
    case mixedIndexHasOrder
    case numericStringsNotInIndex
    case purgedRowsInSQLitesLog
    case purgedWordsKept
    case rangeWithoutBooleans
    case scanOfIDIsUnique
    case stampOfOtherHistory
    case undoneRowsNotWritten
    case valueAtSeveralPlaces
    @TaskLocal package static var active: Breakage?
    package var isActive: Bool { Breakage.active == self }
}
