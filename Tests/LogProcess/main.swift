// A process for tests to start, stop and kill: it writes a log and says on its standard output what was acknowledged,
// one line for each transaction, right after the call returned.
//
//   log-process append <directory> <seed>           appends until it is killed
//   log-process append <directory> <seed> <count>   appends that many transactions and closes the log
//   log-process hold <directory>                    opens the log and waits for the end of its input

import Foundation
import SegmentLog

/// The bytes of a record: its transaction, its number, and a filling that follows from the number.
func record(_ number: UInt64, of range: ClosedRange<UInt64>) -> [UInt8] {
    let filling = String(repeating: Character(UnicodeScalar(UInt8(97 + number % 26))), count: Int(number &* 7919 % 700))
    return Array("\(range.lowerBound)..\(range.upperBound) \(number) \(filling)".utf8)
}

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // A line is shorter than what a pipe takes at once, so it arrives whole or not at all.
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func append(_ directory: String, seed: UInt64, count: UInt64) throws {
    var configuration = LogConfiguration()
    configuration.segmentSize = .kibibytes(16)
    configuration.zeroAhead = .kibibytes(8)
    let writer = try LogWriter.open(at: directory, configuration: configuration)
    say("open")
    var chance = seed
    for _ in 0..<count {
        chance = chance &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let first = writer.lastSequence.next.rawValue
        let range = first...first + (chance >> 33) % 5
        var batch = RecordBatch()
        for number in range { batch.append(record(number, of: range)) }
        let durability = [Durability.durable, .ordered, .buffered, .buffered][Int((chance >> 40) % 4)]
        let given = try writer.append(batch, durability: durability)
        say("\(given.first.rawValue) \(given.last.rawValue)")
    }
    try writer.close()
}

let arguments = CommandLine.arguments
do {
    switch (arguments.dropFirst().first, arguments.count) {
    case ("append", 4...):
        try append(
            arguments[2], seed: UInt64(arguments[3]) ?? 0, count: arguments.count > 4 ? UInt64(arguments[4]) ?? 0 : .max
        )
    case ("hold", 3):
        let writer = try LogWriter.open(at: arguments[2])
        say("open")
        while readLine() != nil {}
        try writer.close()
    default:
        say("log-process append <directory> <seed> [<count>] | hold <directory>")
        exit(2)
    }
} catch {
    say("failed: \(error)")
    exit(1)
}
