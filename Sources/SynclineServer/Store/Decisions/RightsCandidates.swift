// Rows and departures in the order of a caller's places, merged from several sources, each of which may end before it is
// complete.

import SynclineGround
import SynclineTables
import SynclineWire

/// Tells a row at a place, or a departure, which has no row. Returns whether more is wanted.
typealias TellingRights = (_ place: Int64, _ id: String, RowRight, consuming TableRow?) -> Bool

/// A row at a place at which it may be told. A row may be at several places, and is told at one of them. It is an object,
/// because a page takes longer to copy rows several times than to read them.
final class RightsCandidate {
    let place: Int64
    let id: String
    let right: RowRight
    /// Nil for a departure.
    let row: TableRow?

    init(place: Int64, id: String, right: RowRight = RowRight(), row: TableRow? = nil) {
        (self.place, self.id, self.right, self.row) = (place, id, right, row)
    }

    func isBefore(_ other: RightsCandidate) -> Bool {
        place != other.place ? place < other.place : ExactString(id) < ExactString(other.id)
    }
}

/// Candidates from several sources, and the last one up to which they are complete; nil if nothing follows.
struct RightsCandidates {
    private var found: [RightsCandidate] = []
    private var isInOrder = true
    private(set) var hasDepartures = false
    private(set) var bound: RightsCandidate?
    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// How many more a page needs of what comes first.
    var rest: Int { max(0, limit - found.count) }

    /// Adds what one source has, in order.
    /// - Parameter isCut: Whether more of the same may follow.
    mutating func add(_ some: [RightsCandidate], isCut: Bool) {
        guard let first = some.first, let last = some.last else { return }
        // Each source has rows, or departures.
        hasDepartures = hasDepartures || first.row == nil
        isInOrder = isInOrder && found.last.map { $0.isBefore(first) } ?? true
        if found.isEmpty { found = some } else { found += some }
        if isCut, bound.map({ last.isBefore($0) }) ?? true { bound = last }
    }

    /// Whether nothing at a place, or later, is part of them: a page that is full without it ends before it.
    mutating func isFull(before place: Int64) -> Bool {
        if let bound, bound.place < place { return true }
        if found.count < limit { return false }
        let earlier = found.filter { $0.place < place }
        guard earlier.count >= limit, let last = earlier.max(by: { $0.isBefore($1) }) else { return false }
        bound = last
        return true
    }

    /// Those that are complete, in order.
    var complete: ArraySlice<RightsCandidate> {
        let sorted = isInOrder ? found : found.sorted { $0.isBefore($1) }
        guard let bound else { return sorted[...] }
        var end = sorted.count
        while end > 0, bound.isBefore(sorted[end - 1]) { end -= 1 }
        return sorted[..<end]
    }
}

/// Tells candidates in order: those that were collected, and others that arrive in order. A row that two buckets have at
/// one place is told once.
struct RightsMerge {
    private let collected: ArraySlice<RightsCandidate>
    /// The first one of these that was not told.
    private var next: Int
    private(set) var bound: RightsCandidate?
    private var last: (place: Int64, id: String)?

    init(_ collected: ArraySlice<RightsCandidate>, bound: RightsCandidate?) {
        (self.collected, self.bound) = (collected, bound)
        next = collected.startIndex
    }

    /// Whether nothing was collected, so that candidates may be told as they arrive, if each arrives once.
    var isEmpty: Bool { collected.isEmpty && bound == nil }

    /// Tells what comes before a candidate that arrives, and the candidate. Returns whether more is wanted.
    mutating func tell(_ candidate: RightsCandidate, _ body: TellingRights) -> Bool {
        while next < collected.endIndex, collected[next].isBefore(candidate) {
            next += 1
            if !once(collected[next - 1], body) { return false }
        }
        return once(candidate, body)
    }

    /// Tells the rest.
    /// - Parameter end: The last candidate that arrived, if more may follow.
    mutating func finish(after end: RightsCandidate?, _ body: TellingRights) -> Bool {
        if let end, bound.map({ end.isBefore($0) }) ?? true { bound = end }
        while next < collected.endIndex {
            next += 1
            if let bound, bound.isBefore(collected[next - 1]) { break }
            if !once(collected[next - 1], body) { return false }
        }
        return true
    }

    private mutating func once(_ candidate: RightsCandidate, _ body: TellingRights) -> Bool {
        if let bound, bound.isBefore(candidate) { return true }
        if let last, last.place == candidate.place, last.id.hasSameBytes(as: candidate.id) { return true }
        last = (candidate.place, candidate.id)
        return body(candidate.place, candidate.id, candidate.right, candidate.row)
    }
}
