// Real processes on real files: a writer is killed again and again during its work, and everything it acknowledged
// is there; a second writer is refused; readers follow a living, a stopped and a dead writer. No test waits for a
// clock: the times come from the acknowledgements a child sends. SYNCLINE_KILLS sets the number of kills.

import Foundation
import LogTesting
import SegmentLog
import Testing

@Suite struct ProcessTests {
    @Test func `nothing acknowledged is lost when the writer is killed, again and again`() throws {
        let directory = try PrivateDirectory()
        let kills = ProcessInfo.processInfo.environment["SYNCLINE_KILLS"].flatMap { UInt64($0) } ?? 50
        var generator = Chance(seed: kills)
        var check = ChildRecords()
        for cycle in 0..<kills {
            // A new log after a hundred kills: opening the same one takes longer the more segments it has.
            let log = directory.log + "\(cycle / 100)"
            if cycle % 100 == 0 { check = ChildRecords() }
            let child = try LogProcess("append", log, "\(generator.next())")
            var last: UInt64 = 0
            for _ in 0..<generator.below(60) { last = try child.acknowledgement()?.upperBound ?? last }
            child.kill()
            while let range = try child.acknowledgement() { last = range.upperBound }
            try check.follow(log, showing: .written)
            #expect(
                check.next > last, "cycle \(cycle): @\(last) was acknowledged, and the log ends before @\(check.next)")
            #expect(try LogWriter.open(at: log).lastSequence.rawValue == check.next - 1, "cycle \(cycle)")
            if cycle % 100 == 99 || cycle == kills - 1 {
                let report = try LogVerification(POSIXStorage(directory: log)).run()
                #expect(report.damage == [])
                #expect(report.records == check.next - 1)
            }
        }
    }

    @Test func `a second writer is refused while the first runs, and accepted after it was killed`() throws {
        let directory = try PrivateDirectory()
        let child = try LogProcess("hold", directory.log)
        #expect(try child.line() == "open")
        try mustThrow(.storeLocked, "a second writer") { () throws(LogError) in
            _ = try LogWriter.open(at: directory.log)
        }
        child.kill()
        try LogWriter.open(at: directory.log, creating: .never).close()
    }

    @Test(arguments: [LogReader.Visibility.written, .durable])
    func `a reader follows a living writer through its segments and misses nothing`(_ visibility: LogReader.Visibility)
        throws
    {
        let directory = try PrivateDirectory()
        let child = try LogProcess("append", directory.log, "5", "600")
        #expect(try child.line() == "open")
        var records = ChildRecords()
        var cursor = try LogReader.open(at: directory.log, showing: visibility).cursor()
        var last: UInt64 = 0
        while let range = try child.acknowledgement() {
            last = range.upperBound
            try records.follow(&cursor)
            if visibility == .written { #expect(records.next > last) }
        }
        child.wait()
        try records.follow(&cursor)
        #expect(records.next == last + 1)
        #expect(cursor.position.segment > 3)
    }

    @Test func `a reader sees what a stopped writer wrote`() throws {
        let directory = try PrivateDirectory()
        let child = try LogProcess("append", directory.log, "11")
        var last: UInt64 = 0
        for _ in 0..<40 { last = try child.acknowledgement()?.upperBound ?? last }
        try child.suspend()
        while child.hasOutput { last = try child.acknowledgement()?.upperBound ?? last }
        var records = ChildRecords()
        try records.follow(directory.log, showing: .written)
        #expect(records.next > last)
        try mustThrow(.storeLocked, "a second writer") { () throws(LogError) in
            _ = try LogWriter.open(at: directory.log)
        }
    }
}

/// The expected records of a child: each has its number and its transaction.
struct ChildRecords {
    private(set) var next: UInt64 = 1
    private var transaction: ClosedRange<UInt64> = 1...1

    mutating func follow(_ path: String, showing visibility: LogReader.Visibility) throws {
        guard let reader = try? LogReader.open(at: path, showing: visibility) else { return }
        var cursor = try reader.cursor(from: SequenceNumber(rawValue: next))
        try follow(&cursor)
    }

    mutating func follow(_ cursor: inout LogCursor) throws {
        while try cursor.nextFrame() {
            try cursor.forEachRecord { number, bytes in
                try take(number.rawValue, bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            }
        }
        try must(
            next == 1 || next == transaction.upperBound + 1,
            "half a transaction was shown: \(transaction) through @\(next - 1)")
    }

    private mutating func take(_ number: UInt64, _ text: String) throws {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let numbers = words[0].split(separator: ".").compactMap { UInt64($0) }
        try must(words.count == 3 && numbers.count == 2, "@\(number) holds \(text)")
        let range = numbers[0]...numbers[1]
        try must(
            number == next && words[1] == "\(number)" && range.contains(number),
            "@\(number) holds \(text), after @\(next - 1)")
        try must(
            words[2].utf8.count == Int(number &* 7919 % 700), "@\(number) has \(words[2].utf8.count) bytes of filling")
        if number == range.lowerBound { transaction = range }
        try must(transaction == range, "@\(number) belongs to \(range), and stands in \(transaction)")
        next = number + 1
    }
}
