// The breakages, one switch each. A test turns on one of them for what it calls.
package enum Breakage: String, CaseIterable, Sendable {
    case liveAfterIgnored
    case liveBeyondTheEdge
    case liveCountOnlyFalls
    case liveCountOnlyRises
    case liveExtremeKept
    case liveFilterIgnored
    case liveFractionKept
    case liveGroupKeepsRows
    case liveInsertUnseen
    case liveNotRefilled
    case liveOldRowKept
    case livePageNotFollowed
    case liveRelatedNotUpdated
    case liveRelatedTwice
    case liveRemovalUnseen
    case liveValueNotTakenBack
    case liveWholeForEver
    case unseenDeleteIgnored
    case unseenPartOnly
    case unseenRivalForgotten
    case unseenValueIgnored
    @TaskLocal package static var active: Breakage?
    package var isActive: Bool { Breakage.active == self }
}
