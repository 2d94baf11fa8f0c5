// A process for tests to kill: it changes a store at random, and updates its mirror and its full-text indexes after each
// round. It prints a line before the updates, and one with the number of the event after each of them.
//
//   follow-process <directory> <seed>

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineSQL

let arguments = CommandLine.arguments
guard arguments.count == 3, let seed = UInt64(arguments[2]) else {
    print("follow-process <directory> <seed>")
    exit(2)
}

/// A linear generator, which is enough to choose rows.
struct Choice {
    var state: UInt64

    mutating func below(_ limit: UInt64) -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % limit
    }
}

func say(_ line: String) {
    print(line)
    fflush(nil)
}

var choice = Choice(state: seed &* 2 &+ 1)
var configuration = SyncConfiguration()
// What is killed is the process, not the machine, so nothing is lost without a sync.
configuration.durability = .buffered
configuration.memoryLimit = ByteCount(rawValue: 8192)
let database = try await SyncDatabase.open(at: arguments[1] + "/store", configuration)
let mirror = SQLMirror(database, at: arguments[1] + "/mirror.sqlite")
let text = FullText(database, [FullTextIndex("item", columns: ["text"])])
let words = ["milk", "bread", "oat", "butter", "salt"]

while true {
    for _ in 0...choice.below(4) {
        let (table, id) = (choice.below(3) == 0 ? "list" : "item", "r\(choice.below(40))")
        switch choice.below(10) {
        case 0: try? await database.rows(of: table).delete(id: id)
        case 1: _ = try? await database.undo()
        case 2: if choice.below(20) == 0 { try await database.purge(table: table, force: true) }
        case 3: if choice.below(10) == 0 { try await database.declareIndex(table: table, column: "n") }
        default:
            let text = "\(words[Int(choice.below(5))]) \(words[Int(choice.below(5))])"
            _ = try? await database.rows(of: table).update(
                .object([
                    .init("id", .string(id)), .init("n", .integer(Int64(choice.below(100)))),
                    .init("text", .string(text)),
                    .init("c\(choice.below(8))", .bool(choice.below(2) == 0)),
                ]))
        }
    }
    say("updating")
    say("mirror \(try await mirror.update())")
    say("text \(try await text.update())")
}
