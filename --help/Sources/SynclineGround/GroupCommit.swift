// Group commit: members that arrive while a group is served wait, and are then served together with one transaction or one
// sync of a disk. A member that arrives when no group is served leads the next one.

/// The waiting members, and whether one of them leads. The owner guards it with a lock.
public struct GroupCommit<Member> {
    @usableFromInline var members: [Member] = []
    @usableFromInline var isLed = false

    @inlinable public init() {}

    /// The waiting members, in the order of their arrival.
    @inlinable public var waiting: [Member] { members }
    /// Their number.
    @inlinable public var count: Int { members.count }

    /// Adds a member; returns whether it must lead.
    @inlinable public mutating func join(_ member: Member) -> Bool {
        members.append(member)
        defer { isLed = true }
        return !isLed
    }

    /// Removes and returns the waiting members, for the leader to serve.
    @inlinable public mutating func take() -> [Member] {
        defer { members = [] }
        return members
    }

    /// Like `take()`, but ends the lead if no member is waiting.
    @inlinable public mutating func takeOrEnd() -> [Member] {
        if members.isEmpty { isLed = false }
        return take()
    }

    /// Returns the member that has waited longest, which leads from now on; ends the lead if no member is waiting.
    @inlinable public mutating func passOn() -> Member? {
        isLed = !members.isEmpty
        return members.first
    }
}
