// Those who come while others are being served wait, and are served together: one transaction, or one sync of a disk, is
// enough for all of them. Whoever comes when nobody leads must lead.

/// Who waits, and whether somebody leads. Whoever shares it guards it.
package struct Gathering<Member> {
    @usableFromInline var members: [Member] = []
    @usableFromInline var isLed = false

    @inlinable package init() {}

    /// Those who wait, in the order in which they came.
    @inlinable package var waiting: [Member] { members }

    /// Lets another wait; true if it must lead.
    @inlinable package mutating func join(_ member: Member) -> Bool {
        members.append(member)
        defer { isLed = true }
        return !isLed
    }

    /// Those who wait, to be served by the one who leads.
    @inlinable package mutating func take() -> [Member] {
        defer { members = [] }
        return members
    }

    /// The same; if nobody waits, nobody leads from now on.
    @inlinable package mutating func takeOrEnd() -> [Member] {
        if members.isEmpty { isLed = false }
        return take()
    }

    /// Passes the lead on to the one who has waited longest; if nobody waits, nobody leads from now on.
    @inlinable package mutating func passOn() -> Member? {
        isLed = !members.isEmpty
        return members.first
    }
}
