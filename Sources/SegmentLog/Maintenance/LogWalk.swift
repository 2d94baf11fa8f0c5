// Walks a log's segments frame by frame and reports damage at its place. Frames and records are listed by visitors
// of this walk. Only the current frame is kept in memory.

/// An item of a log, or damage in its place.
package enum Found<Item: Sendable>: Sendable {
    case item(Item)
    case damage(LogDamage)
}

extension Found: Equatable where Item: Equatable {}

struct LogWalk {
    let inspection: LogInspection
    let catalog: LogCatalog
    private var waiting: ArraySlice<LogDamage>

    init(_ inspection: LogInspection, _ catalog: LogCatalog) {
        self.inspection = inspection
        self.catalog = catalog
        waiting =
            catalog.damage.filter { $0.position != nil }
            .sorted { ($0.position ?? .start) < ($1.position ?? .start) }[...]
    }

    /// Walks the segments at `indices`. A visitor's error ends the walk and is rethrown.
    mutating func run(
        _ indices: Range<Int>, frame: (DamageWalk.Frame, LogCatalog.Segment) throws -> Void,
        damage: (LogDamage) throws -> Void
    ) throws {
        if let first = indices.first {
            let start = first == 0 ? .start : LogPosition(segment: catalog.segments[first].ordinal, offset: 0)
            waiting = waiting.drop { ($0.position ?? .start) < start }
        }
        for index in indices {
            do {
                try walk(index, frame: frame, damage: damage)
            } catch let error as LogError where error.isNotFound {
                // Not damage, if it was removed since with the history before it.
                let first = try inspection.catalog().segments.first?.ordinal ?? 0
                guard catalog.segments[index].ordinal < first else { throw error }
            }
        }
        if indices.upperBound == catalog.segments.count {
            while let next = waiting.popFirst() { try damage(next) }
        }
    }

    private mutating func walk(
        _ index: Int, frame: (DamageWalk.Frame, LogCatalog.Segment) throws -> Void, damage: (LogDamage) throws -> Void
    ) throws {
        let segment = catalog.segments[index]
        let successor = catalog.segments.successor(of: index)?.header
        var end = segment.reach
        var tailDamage: LogDamage?
        if segment.end == nil, let header = segment.header {
            let tail = try inspection.tail(of: segment, header)
            tailDamage = tail.damage
            // After a clean or torn end there is nothing to check.
            if tailDamage?.remedy == .cutTail || tailDamage == nil { end = tail.scan.tail.offset }
        }
        var walk = try DamageWalk(segment, of: catalog, in: inspection.storage, through: end, before: successor)
        while let step = try walk.next() {
            switch step {
            case .frame(let found):
                try tell(through: LogPosition(segment: segment.ordinal, offset: found.offset), damage)
                try frame(found, segment)
            case .damage(let stretch):
                tailDamage = nil
                try tell(through: stretch.start, damage)
                try damage(stretch.damage)
            }
        }
        try tell(through: LogPosition(segment: segment.ordinal, offset: .max), damage)
        if let tailDamage { try damage(tailDamage) }
    }

    /// Passes on the damage before a position that is still to be told.
    private mutating func tell(through position: LogPosition, _ damage: (LogDamage) throws -> Void) throws {
        while let next = waiting.first, let place = next.position, place <= position {
            waiting.removeFirst()
            try damage(next)
        }
    }
}

extension LogPosition {
    static let start = LogPosition(segment: 0, offset: 0)
}
