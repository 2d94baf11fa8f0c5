// What is done on the failing disks: short histories of a log, one for each operation it has.

import LogTesting
import SegmentLog

struct IOErrorScenario: Sendable {
    let name: String
    /// The disk and log before the first call that may fail.
    let prepare: @Sendable () throws -> IOErrorPlay
    let body: @Sendable (IOErrorPlay) throws -> Void
    var check: @Sendable (IOErrorPlay, MemoryStorage) throws -> Void = { try $0.check($1) }

    /// A healthy log with records in it, closed or not.
    private static func started(
        segment: UInt64 = 4096, _ body: @escaping @Sendable (IOErrorPlay) throws -> Void = { _ in }
    ) -> @Sendable () throws -> IOErrorPlay {
        {
            let disk = MemoryStorage(granularity: .sector)
            let play = IOErrorPlay(disk, seed: 5, configuration: .small(segment: segment, zeroAhead: 1024))
            try play.open()
            try body(play)
            try require(play.errors.isEmpty, "a healthy disk refused: \(play.errors)")
            return play
        }
    }

    static let all = [
        create, append, manyFrames, roll, close, reopen, cut, checkpoint, collect, heal, salvage, ordered,
    ]

    static let create = IOErrorScenario(
        name: "create",
        prepare: { IOErrorPlay(MemoryStorage(granularity: .sector), seed: 4) },
        body: { play in
            try play.open()
            try play.open()
            try play.append(2, limit: 100)
        })

    static let append = IOErrorScenario(
        name: "append", prepare: started(segment: 1 << 20),
        body: { play in for size in [10, 700, 3000, 20, 1500] { try play.append(2, limit: size) } })

    static let ordered = IOErrorScenario(
        name: "append, ordered and buffered", prepare: started(segment: 1 << 20),
        body: { play in
            for (index, size) in [10, 700, 3000, 20].enumerated() {
                try play.append(2, limit: size, index % 2 == 0 ? .ordered : .buffered)
            }
            try play.use { try $0.flush() }
            try play.append(1, limit: 50, .buffered)
            try play.append(1, limit: 50)
        })

    static let manyFrames = IOErrorScenario(
        name: "append over many frames", prepare: started(segment: 1 << 20),
        body: { play in
            try play.append(1, limit: 50, .buffered)
            try play.append(4, limit: 90_000)
            try play.append(1, limit: 50)
        })

    static let roll = IOErrorScenario(
        name: "roll", prepare: started { try $0.append(1, limit: 100) },
        body: { play in
            try play.append(1, limit: 60, .buffered)
            try play.use { try $0.roll() }
            for _ in 0..<6 { try play.append(2, limit: 1500) }
        })

    static let close = IOErrorScenario(
        name: "close", prepare: started { try $0.append(2, limit: 500) },
        body: { play in
            try play.append(1, limit: 300, .buffered)
            try play.close()
            try play.open()
            try play.append(1, limit: 300)
            try play.close()
        })

    /// Whole frames that were never synced are adopted.
    static let reopen = IOErrorScenario(
        name: "reopen after the end of a process",
        prepare: started { play in
            try play.append(2, limit: 500)
            try play.append(2, limit: 900, .buffered)
        },
        body: { play in
            try play.open()
            try play.open()
            try play.append(1, limit: 300)
        })

    /// A torn tail is kept, truncated and followed by a session.
    static let cut = IOErrorScenario(
        name: "reopen after a torn write",
        prepare: {
            let play = try started { play in
                try play.append(2, limit: 500)
                try play.append(3, limit: 2900, .buffered)
                play.letGo()
            }()
            let items = play.disk.pendingItemCount
            // The last sector of the write is missing.
            return IOErrorPlay(play, on: play.disk.crash { $0 < items - 12 })
        },
        body: { play in
            try play.open()
            try play.open()
            try play.append(1, limit: 300)
        })

    static let checkpoint = IOErrorScenario(
        name: "checkpoint", prepare: started { try $0.append(3, limit: 900) },
        body: { play in
            for _ in 0..<3 {
                try play.append(1, limit: 200, .buffered)
                try play.checkpoint()
            }
        })

    static let collect = IOErrorScenario(
        name: "collect",
        prepare: started { play in
            for _ in 0..<5 { try play.append(2, limit: 3000) }
            try play.use { try $0.roll() }
            try play.append(1, limit: 100)
            try play.checkpoint()
        },
        body: { play in
            try play.collect()
            try play.append(1, limit: 100)
            try play.collect()
        })

    // MARK: Maintenance

    /// A log whose third transaction is damaged.
    private static func damaged() throws -> IOErrorPlay {
        let play = try started(segment: 1 << 20) { play in
            for _ in 0..<5 { try play.append(1, limit: 700) }
            try play.close()
        }()
        var frames: [FrameSummary] = []
        _ = try LogVerification(play.disk).run { frames.append($0) }
        let victim = frames.filter { $0.kind == .data }[2]
        try play.disk.flipBit(in: FileName.segment(ordinal: 1, first: .first), at: victim.position.offset + 50, bit: 3)
        return play
    }

    /// What must be left of it: all but the third record.
    private static func checkHealed(_ play: IOErrorPlay, _ disk: MemoryStorage) throws {
        _ = try LogHealing(disk, clock: TestClock()).run { _ in true }
        let writer = try LogWriter.small(disk, creating: .never)
        try require(writer.lastSequence.rawValue == 5, "the log ends at \(writer.lastSequence)")
        let reading = try TortureReader.read(disk)
        if let error = reading.error { throw error }
        let wanted = [0, 1, 3, 4].flatMap { play.transactions[$0].records }
        try require(reading.records == wanted, "healing left other records")
    }

    static let heal = IOErrorScenario(
        name: "heal", prepare: damaged,
        body: { play in try play.attempt { _ = try LogHealing(play.disk, clock: TestClock()).run { _ in true } } },
        check: checkHealed)

    /// The damaged log is only read. What a failed copy leaves does not matter; what it calls done does.
    static let salvage = IOErrorScenario(
        name: "salvage", prepare: damaged,
        body: { play in
            let fresh = MemoryStorage()
            try play.attempt {
                let salvage = try LogSalvage.copy(from: play.disk, to: fresh)
                try require(salvage.records == 4, "salvage copied \(salvage.records) records and said nothing")
                let reading = try TortureReader.read(fresh)
                let wanted = [0, 1, 3, 4].flatMap { play.transactions[$0].records }
                try require(reading.error == nil && reading.records == wanted, "salvage copied other records")
            }
        },
        check: checkHealed)
}

extension IOErrorScenario: CustomStringConvertible {
    var description: String { name }
}
