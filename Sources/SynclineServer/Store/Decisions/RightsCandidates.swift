// Rows and departures in the order of a caller's places, merged from several sources, each of which may end before it is
// complete.

import SynclineGround
import SynclineTables
import SynclineWire

/// A row at a place at which it may be told. A row may be at several places, and is told at one of them.
struct RightsCandidate {
    var place: Int64
    var id: String
    var right = RowRight()
    /// Nil for a departure.
    var row: TableRow?

    func isBefore(_ other: RightsCandidate) -> Bool {
        place != other.place ? place < other.place : ExactString(id) < ExactString(other.id)
    }
}

/// Candidates from several sources, and the last one up to which they are complete; nil if nothing follows.
struct RightsCandidates {
    private var found: [RightsCandidate] = []
    private(set) var bound: RightsCandidate?
    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// How many more a page needs of what comes first.
    var rest: Int { max(0, limit - found.count) }

    /// - Parameter isCut: Whether more of the same may follow.
    mutating func add(_ some: [RightsCandidate], isCut: Bool) {
        if found.isEmpty { found = some } else { found += some }
        guard isCut, let last = some.last else { return }
        if bound.map({ last.isBefore($0) }) ?? true { bound = last }
    }

    /// Whether nothing at a place, or later, is part of them.
    func isFull(before place: Int64) -> Bool { bound.map { $0.place < place } ?? false }

    private var isInOrder: Bool { found.indices.dropFirst().allSatisfy { found[$0 - 1].isBefore(found[$0]) } }

    /// Those that are complete, in order.
    var complete: ArraySlice<RightsCandidate> {
        let sorted = isInOrder ? found : found.sorted { $0.isBefore($1) }
        guard let bound else { return sorted[...] }
        return sorted.prefix { !bound.isBefore($0) }
    }
}

/// Tells candidates in order: those that were collected, and others that arrive in order. A row that two buckets have at
/// one place is told once.
struct RightsMerge {
    private var collected: ArraySlice<RightsCandidate>
    private(set) var bound: RightsCandidate?
    private var last: (place: Int64, id: String)?

    init(_ collected: ArraySlice<RightsCandidate>, bound: RightsCandidate?) {
        (self.collected, self.bound) = (collected, bound)
    }

    /// Tells what comes before a candidate that arrives, and the candidate. Returns whether more is wanted.
    mutating func tell(_ candidate: RightsCandidate, _ body: (RightsCandidate) -> Bool) -> Bool {
        while let first = collected.first, first.isBefore(candidate) {
            collected.removeFirst()
            if !once(first, body) { return false }
        }
        return once(candidate, body)
    }

    /// Tells the rest.
    /// - Parameter end: The last candidate that arrived, if more may follow.
    mutating func finish(after end: RightsCandidate?, _ body: (RightsCandidate) -> Bool) -> Bool {
        if let end, bound.map({ end.isBefore($0) }) ?? true { bound = end }
        while let first = collected.popFirst() {
            if let bound, bound.isBefore(first) { break }
            if !once(first, body) { return false }
        }
        return true
    }

    private mutating func once(_ candidate: RightsCandidate, _ body: (RightsCandidate) -> Bool) -> Bool {
        if let bound, bound.isBefore(candidate) { return true }
        if let last, last.place == candidate.place, last.id.hasSameBytes(as: candidate.id) { return true }
        last = (candidate.place, candidate.id)
        return body(candidate)
    }
}
