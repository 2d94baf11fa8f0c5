// A reader that follows the log through a cursor and compares every record with the model: in order, without gaps,
// with its number and time, and only whole transactions.

import SegmentLog

final class SimulatedFollower {
    enum Start {
        case beginning
        case record(UInt64)
        case time(Int64)
    }

    private final class Walk {
        var cursor: LogCursor
        init(_ cursor: consuming LogCursor) { self.cursor = cursor }
    }

    let visibility: LogReader.Visibility
    private var start: Start
    /// The record expected next; nil until the first was seen.
    private(set) var next: UInt64?
    private var walk: Walk?

    init(_ visibility: LogReader.Visibility, _ start: Start) {
        self.visibility = visibility
        self.start = start
    }

    /// Memory is lost; a new cursor continues at the same record. After a power failure, or a write that was taken
    /// back, a reader of unsynced records has to begin again.
    func restart(fromBeginning: Bool) {
        walk = nil
        if fromBeginning {
            next = nil
            start = .beginning
        } else if let next {
            start = .record(next)
        }
    }

    /// Reads to the end; returns the last record shown so far.
    func follow(_ storage: any LogStorage, _ model: SimulationModel) throws -> UInt64? {
        do {
            let walk = try self.walk ?? Walk(try open(storage))
            self.walk = walk
            while try walk.cursor.nextFrame() { try check(walk, model) }
        } catch let error as LogError where error.code == .collected {
            let isFresh = walk == nil && next == nil && firstWanted == nil
            guard !isFresh, next ?? firstWanted ?? 0 < model.floor else {
                throw SimulationFailure("a reader at @\(next ?? 0) was told: \(error)")
            }
            restart(fromBeginning: true)
            return try follow(storage, model)
        } catch let error as LogError where error.code == .noStore && model.log.isEmpty {
            return nil
        } catch let error as LogError {
            walk = nil
            throw error
        }
        guard let next else { return nil }
        if let cut = model.transaction(holding: next), cut.first < next, !startsInside(cut) {
            throw SimulationFailure(
                "a reader of \(visibility) records was shown half of @\(cut.first)..\(cut.last): it stands at @\(next)")
        }
        return next - 1
    }

    private var firstWanted: UInt64? {
        if case .record(let number) = start { number } else { nil }
    }

    private func startsInside(_ transaction: SimulationModel.Transaction) -> Bool {
        firstWanted.map { $0 == next && $0 > transaction.first } ?? false
    }

    private func open(_ storage: any LogStorage) throws(LogError) -> LogCursor {
        let reader = try LogReader.open(storage, showing: visibility)
        switch start {
        case .beginning: return try reader.cursor()
        case .record(let number): return try reader.cursor(from: SequenceNumber(rawValue: number))
        case .time(let time): return try reader.cursor(since: WallTime(rawValue: time))
        }
    }

    private func check(_ walk: Walk, _ model: SimulationModel) throws {
        let time = walk.cursor.time.rawValue
        try walk.cursor.forEachRecord { number, bytes in
            let number = number.rawValue
            guard let transaction = model.transaction(holding: number) else {
                throw SimulationFailure("a reader was shown @\(number), which was never appended")
            }
            if next == nil { try checkStart(number, transaction, model) }
            if let next, next != number {
                throw SimulationFailure("a reader was shown @\(number) in place of @\(next)")
            }
            let record = transaction.records[Int(number - transaction.first)]
            guard bytes.withUnsafeBytes({ $0.elementsEqual(record) }) else {
                throw SimulationFailure("a reader was shown @\(number) with other bytes")
            }
            guard time == transaction.time else {
                throw SimulationFailure("@\(number) was written at \(transaction.time), and its frame says \(time)")
            }
            next = number + 1
        }
    }

    /// The first record shown must be the requested one.
    private func checkStart(_ number: UInt64, _ transaction: SimulationModel.Transaction, _ model: SimulationModel)
        throws
    {
        let fits =
            switch start {
            case .beginning: number == transaction.first && number <= model.floor
            case .record(let wanted): number == wanted
            case .time(let time):
                number == transaction.first && transaction.time >= time
                    && (number <= model.floor || (model.transaction(holding: number - 1)?.time ?? .min) < time)
            }
        guard fits else { throw SimulationFailure("a reader that starts at \(start) was shown @\(number) first") }
    }

    /// Whether it has seen all requested records of the log.
    func hasSeen(_ range: ClosedRange<UInt64>, of model: SimulationModel) -> Bool {
        if let next { return next > range.upperBound }
        return switch start {
        case .beginning: false
        case .record(let number): number > range.upperBound
        case .time(let time): model.log.allSatisfy { $0.time < time || !range.contains($0.last) }
        }
    }
}
