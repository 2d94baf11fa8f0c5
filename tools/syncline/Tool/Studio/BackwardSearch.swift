// The last event before a moment that made a condition true or changed a count: where the page's watchpoint stops on the
// way back. The nearest events are looked at first, in stretches that grow.

import SegmentLog
import Syncline

struct BackwardSearch {
    private let storage: any LogStorage
    private let condition: Condition
    /// The number of events of the first stretch.
    private let length: UInt64
    private let interrupt: Interrupt

    init(
        _ storage: any LogStorage, _ condition: Condition, length: UInt64 = 4096,
        until interrupt: Interrupt = Interrupt()
    ) {
        (self.storage, self.condition, self.length) = (storage, condition, max(1, length))
        self.interrupt = interrupt
    }

    /// - Parameter moment: An event of the log, or the number after the last one.
    func last(before moment: UInt64) throws -> UInt64? {
        try HistoryReading.run(storage) {
            let loader = StateLoader(storage)
            let first = try loader.earliest().through + 1
            for stretch in BackwardSearch.stretches(first, moment, length) {
                let begin = stretch.lowerBound
                let start = try begin == first ? loader.earliest() : loader.load(through: begin - 1)
                if let found = try last(in: stretch, from: start) { return found }
            }
            return nil
        }
    }

    /// The events from the first until before the moment, the last ones first; each stretch is eight times as long as
    /// the one before.
    static func stretches(_ first: UInt64, _ moment: UInt64, _ length: UInt64) -> [Range<UInt64>] {
        var stretches: [Range<UInt64>] = []
        var (end, length) = (moment, length)
        while end > first {
            let begin = end - first > length ? end - length : first
            stretches.append(begin..<end)
            end = begin
            length = length > .max / 8 ? .max : length * 8
        }
        return stretches
    }

    private func last(in stretch: Range<UInt64>, from start: Projector) throws -> UInt64? {
        var search = try ReplaySearch(condition, from: start)
        var found: UInt64?
        try LogInspection(storage).forEachRecord(from: stretch.lowerBound) { number, record in
            guard number < stretch.upperBound else { return false }
            try interrupt.check()
            let before = search.value
            _ = try search.fold(record, number: number)
            if condition.finds(before, search.value) { found = number }
            return true
        } lost: { lost in
            if case .damage(let damage) = lost, damage.remedy != .cutTail { throw damage.error }
        }
        return found
    }
}
