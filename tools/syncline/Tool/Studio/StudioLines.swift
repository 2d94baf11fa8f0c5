// The lines of the list of events: what a filter leaves, with the events of a push or of a pull folded into one line.
// The code is pure, and reads only the index.

import SynclineCore

/// What the list shows.
struct StudioFilter: Hashable {
    /// Words of kinds; empty for all. `lost` stands for events that can't be read.
    var kinds: Set<String> = []
    var table: String?
    /// A word of `StudioIndex.outcomes`, or `problem` for those that need attention.
    var outcome: String?
    /// A row by table and id.
    var row: StudioRow?
    /// Whether the events of a push or of a pull are one line.
    var folds = true
    /// The first events of folded lines that are open.
    var open: Set<UInt64> = []
}

struct StudioRow: Hashable {
    var table: String
    var id: String
}

struct StudioLine: Hashable {
    enum Role: Hashable {
        case event
        /// A push, a pull, or events that can't be read, folded into one line; open if its events follow.
        case folded(isOpen: Bool)
        /// An event of a folded line that is open.
        case part
    }

    var first: UInt64
    var last: UInt64
    var role: Role
}

/// What events are folded into.
enum StudioGroup: Hashable {
    case push
    case pull(table: UInt16)
    case lost
}

extension StudioIndex {
    /// The group to which an event belongs if its neighbours do, too.
    func group(_ place: Int) -> StudioGroup? {
        let mark = marks[place]
        switch mark.kind {
        case nil: return .lost
        case .sent, .answered, .serverWorked: return .push
        // What a policy decided is part of the push.
        case .resolved where mark.size == 1: return .push
        case .page: return .pull(table: mark.table)
        default: return nil
        }
    }

    /// - Parameter ofRow: The events that concern the row of the filter.
    func lines(_ filter: StudioFilter, ofRow: [UInt64]?) -> [StudioLine] {
        var lines: [StudioLine] = []
        var run: (group: StudioGroup, numbers: ClosedRange<UInt64>)?
        func finish() {
            guard let (group, numbers) = run else { return }
            run = nil
            if numbers.count == 1, group != .lost {
                lines.append(StudioLine(first: numbers.lowerBound, last: numbers.lowerBound, role: .event))
                return
            }
            let isOpen = group != .lost && filter.open.contains(numbers.lowerBound)
            lines.append(
                StudioLine(first: numbers.lowerBound, last: numbers.upperBound, role: .folded(isOpen: isOpen)))
            guard isOpen else { return }
            for number in numbers { lines.append(StudioLine(first: number, last: number, role: .part)) }
        }
        func add(_ place: Int) {
            let number = first + UInt64(place)
            guard let group = group(place), filter.folds || group == .lost else {
                finish()
                lines.append(StudioLine(first: number, last: number, role: .event))
                return
            }
            if let last = run, last.group == group, last.numbers.upperBound + 1 == number {
                run = (group, last.numbers.lowerBound...number)
            } else {
                finish()
                run = (group, number...number)
            }
        }
        if let ofRow {
            for number in ofRow { if let place = place(of: number), matches(place, filter) { add(place) } }
        } else {
            for place in marks.indices where matches(place, filter) { add(place) }
        }
        finish()
        return lines
    }

    private func matches(_ place: Int, _ filter: StudioFilter) -> Bool {
        let kind = marks[place].kind
        // What can't be read may be anything.
        guard let kind else { return filter.kinds.isEmpty || filter.kinds.contains("lost") }
        if !filter.kinds.isEmpty, !filter.kinds.contains(kind.cause) { return false }
        if let table = filter.table, !concerns(place, table: table) { return false }
        switch filter.outcome {
        case nil: return true
        case "problem"?: return StudioIndex.problems.contains(outcome(place))
        case let outcome?: return self.outcome(place) == outcome
        }
    }

    // MARK: Folded lines

    /// How often each outcome occurs in a stretch.
    func outcomes(_ numbers: ClosedRange<UInt64>) -> [(outcome: String, count: Int)] {
        var counts: [String: Int] = [:]
        for number in numbers {
            guard let place = place(of: number), marks[place].outcome > 0 else { continue }
            counts[outcome(place), default: 0] += 1
        }
        return StudioIndex.outcomes.compactMap { word in counts[word].map { (word, $0) } }
    }

    /// What a folded line says.
    func words(_ numbers: ClosedRange<UInt64>) -> (kind: String, what: String) {
        guard let place = place(of: numbers.lowerBound), let group = group(place) else { return ("", "") }
        let count = UInt64(numbers.count)
        switch group {
        case .lost: return ("lost", counted(count, "event") + " can’t be read")
        case .pull:
            let rows = numbers.reduce(UInt64(0)) { sum, number in
                sum + UInt64(self.place(of: number).map { marks[$0].size } ?? 0)
            }
            return ("pull", "\(table(place) ?? ""): \(counted(count, "page")) with \(counted(rows, "row"))")
        case .push:
            let answers = outcomes(numbers)
            let words = answers.map { answer in
                let isMany = answer.count > 1 && ["conflict", "tombstone"].contains(answer.outcome)
                return grouped(UInt64(answer.count)) + " \(answer.outcome)" + (isMany ? "s" : "")
            }
            .joined(separator: ", ")
            return ("push", answers.isEmpty ? "no answer yet" : words)
        }
    }
}
