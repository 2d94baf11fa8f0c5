// The content of a history: the operations of a seed, each with all its numbers, so that the rest stays the same
// when operations are removed.

import LogTesting
import SegmentLog

struct SimulationPlan {
    var seed: UInt64
    var configuration: LogConfiguration
    var operations: [SimulationOperation]
}

struct SimulationOperation {
    enum Action {
        case append(SimulatedBatch, Durability)
        case flush, roll, attest, open, close, drop
        /// A checkpoint through this many records before the last.
        case checkpoint(back: UInt64)
        /// Everything but this many of the last records may be removed.
        case collect(keeping: UInt64)
        case follow(LogReader.Visibility, FollowerStart)
        case readers
        case lease(back: UInt64)
        case release
        case clock(Int64)
        /// This many bytes stay free on the disk.
        case fill(UInt64)
        case free
    }

    enum FollowerStart {
        case beginning
        case record(back: UInt64)
        case time(back: Int64)
    }

    /// What another process does during it.
    enum Aside {
        case readers
        case lease(back: UInt64)
    }

    enum Ending {
        case powerLoss(seed: UInt64)
        case powerLossKeepingNothing
        case kill
    }

    var action: Action
    var aside: (after: Int, Aside)?
    var fault: FaultPlan?
    var trim: InterleavingStorage.Trim?
    var ending: Ending?
}

extension SimulationOperation: CustomStringConvertible {
    var description: String {
        var text = "\(action)"
        if let aside { text += ", after \(aside.after) calls \(aside.1)" }
        if let fault {
            text +=
                ", call \(fault.call) of \(fault.kinds.count == 12 ? "any kind" : fault.kinds.map { "\($0)" }.sorted().joined(separator: "/"))"
            text += " gives \(fault.fault)\(fault.persists ? " from then on" : "") (\(fault.syncFailure))"
        }
        if let trim {
            text += ", write \(trim.call) stops after \(trim.sectors) sectors\(trim.error.map { " with \($0)" } ?? "")"
        }
        if let ending { text += ", then \(ending)" }
        return text
    }
}

/// A transaction as a seed makes it.
struct SimulatedBatch: CustomStringConvertible {
    var id: UInt64
    var description: String { "batch(\(String(id, radix: 16)))" }

    var records: [[UInt8]] {
        var generator = Chance(seed: id)
        switch generator.below(200) {
        case 0..<140: return (0..<1 + generator.below(4)).map { _ in text(generator.below(120), &generator) }
        case 140..<164: return (0..<1 + generator.below(3)).map { _ in text(300 + generator.below(2700), &generator) }
        case 164..<176: return [noise(200 + generator.below(3000), &generator)]
        case 176..<190:
            return [
                text(20, &generator) + [UInt8](repeating: 0, count: 300 + generator.below(2000)) + noise(9, &generator)
            ]
        case 190..<194: return (0..<200).map { _ in text(generator.below(12), &generator) }
        case 194..<196: return []
        case 196..<198:
            return [text(10, &generator), text(66_000 + generator.below(80_000), &generator), text(70, &generator)]
        default: return (0..<9).map { _ in noise(9_000, &generator) }
        }
    }

    private func text(_ length: Int, _ generator: inout Chance) -> [UInt8] {
        let word = Array("\(String(generator.next(), radix: 36)) of \(String(id, radix: 36)); ".utf8)
        return (0..<length).map { word[$0 % word.count] }
    }

    private func noise(_ length: Int, _ generator: inout Chance) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length + 8)
        while bytes.count < length {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.prefix(length))
    }
}

// MARK: - From a seed

extension SimulationPlan {
    init(seed: UInt64) {
        var generator = Chance(seed: seed)
        self.seed = seed
        configuration = LogConfiguration()
        configuration.segmentSize = generator.pick([
            .kibibytes(4), .kibibytes(4), .kibibytes(8), .kibibytes(16), .kibibytes(100),
        ])
        configuration.zeroAhead = generator.pick([.bytes(0), .kibibytes(1), .kibibytes(4), .kibibytes(16)])
        configuration.acceleration = generator.pick([1, 2, 64])
        configuration.compresses = !generator.once(in: 3)
        configuration.syncsWhenIdle = false
        let length = 6 + generator.below(22)
        let trouble = generator.pick([3, 4, 8, 1000])
        operations = (0..<length).map { _ in SimulationOperation(&generator, trouble: trouble) }
    }
}

extension SimulationOperation {
    /// Returns one operation; `trouble` says how rarely it has a fault.
    fileprivate init(_ generator: inout Chance, trouble: Int) {
        action = Action(&generator)
        switch action {
        case .follow, .readers, .clock, .fill, .free, .drop, .release: return
        default: break
        }
        if generator.once(in: trouble) {
            if generator.once(in: 5) {
                let error = generator.pick([nil, .diskFull, .diskFull, StorageError.Kind.inputOutput])
                trim = InterleavingStorage.Trim(
                    call: generator.below(3), sectors: generator.pick([0, 1, 3, 200]), error: error)
            } else {
                fault = FaultPlan(&generator)
            }
            switch generator.below(6) {
            case 0, 1: ending = .powerLoss(seed: generator.next())
            case 2: ending = .powerLossKeepingNothing
            case 3: ending = .kill
            default: break
            }
        } else if generator.once(in: trouble * 2) {
            ending = generator.pick([.powerLoss(seed: generator.next()), .powerLossKeepingNothing, .kill])
        } else if generator.once(in: 4) {
            aside = (
                generator.below(generator.pick([4, 16, 60])),
                generator.once(in: 3) ? .lease(back: UInt64(generator.below(30))) : .readers
            )
        }
    }
}

extension SimulationOperation.Action {
    fileprivate init(_ generator: inout Chance) {
        switch generator.below(100) {
        case 0..<46:
            let durability: Durability = generator.pick([.durable, .durable, .ordered, .buffered, .buffered])
            self = .append(SimulatedBatch(id: generator.next()), durability)
        case 46..<50: self = .flush
        case 50..<55: self = .roll
        case 55..<60: self = .attest
        case 60..<63: self = .open
        case 63..<67: self = .close
        case 67..<69: self = .drop
        case 69..<74: self = .checkpoint(back: UInt64(generator.once(in: 3) ? generator.below(20) : 0))
        case 74..<81: self = .collect(keeping: UInt64(generator.pick([0, 0, 1, 3, 10, 40])))
        case 81..<85:
            let start: SimulationOperation.FollowerStart =
                switch generator.below(4) {
                case 0: .beginning
                case 1: .time(back: Int64(generator.below(5_000)) - 500)
                default: .record(back: UInt64(generator.below(30)))
                }
            self = .follow(generator.pick([.durable, .written]), start)
        case 85..<89: self = .readers
        case 89..<91: self = .lease(back: UInt64(generator.below(30)))
        case 91..<92: self = .release
        case 92..<97: self = .clock(generator.pick([1, 1000, 86_400_000, -1000, -86_400_000]))
        case 97..<98: self = .fill(UInt64(generator.below(20_000)))
        default: self = .free
        }
    }
}

extension FaultPlan {
    fileprivate init(_ generator: inout Chance) {
        let syncFailure = generator.pick(SyncFailure.allCases)
        switch generator.below(10) {
        case 0..<5:
            // Everything fails from some call on, as at a power failure or with a dying device.
            self.init(
                call: 1 + generator.below(24), syncFailure: generator.once(in: 2) ? .pagesStayDirty : syncFailure,
                persists: true)
        case 5, 6: self.init(call: 1 + generator.below(24), syncFailure: syncFailure)
        case 7: self.init(call: 1 + generator.below(3), of: [.sync], syncFailure: syncFailure)
        case 8: self.init(call: 1 + generator.below(3), of: [.sync], syncFailure: syncFailure, persists: true)
        default:
            self.init(
                call: 1 + generator.below(4), fault: .shortRead(1 + generator.below(600)),
                persists: generator.once(in: 2))
        }
    }
}
