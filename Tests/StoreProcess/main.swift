// A process for tests to start and kill: it counts in a row of its own, as the app that has a store open or as a process that
// follows it, and says on its standard output what was stored, right after the call returned.
//
//   store-process app <directory>              counts and takes in what the others count, until it is killed
//   store-process widget <directory> <name>    follows the store and counts, until it is killed
//   store-process check <directory>            says the numbers, and what is wrong in the log

import Foundation
import Syncline

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // A line is shorter than what a pipe takes at once, so it arrives whole or not at all.
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func number(_ name: String, in database: SyncDatabase) async throws -> Int64 {
    guard case .integer(let number)? = try await database.rows(of: "rows").get(id: name)?.columns["n"] else {
        return 0
    }
    return number
}

/// Counts from what is stored. The number that was being stored at the last kill may be stored or not.
func count(_ name: String, in database: SyncDatabase, _ between: (Int64) async throws -> Void) async throws {
    var next = try await number(name, in: database) + 1
    say("open")
    while true {
        say("try \(name) \(next)")
        try await database.rows(of: "rows").update(["id": .string(name), "n": .integer(next)])
        say("stored \(name) \(next)")
        guard try await number(name, in: database) == next else { return say("wrong: \(name) does not see \(next)") }
        try await between(next)
        next += 1
    }
}

func app(_ directory: String) async throws {
    var configuration = SyncConfiguration()
    configuration.isShared = true
    configuration.log.segmentSize = .kibibytes(64)
    let database = try await SyncDatabase.open(at: directory, configuration)
    try await count("app", in: database) { number in
        if number % 7 == 0 { try await database.refresh() }
        if number % 50 == 0 { try await database.checkpoint() }
        if number % 60 == 0 {
            try await database.suspend()
            try await database.resume()
        }
        if number % 90 == 0 {
            try await database.set(retention: .events(100))
            try await database.compact()
        }
    }
}

func widget(_ directory: String, _ name: String) async throws {
    let database = try await SyncDatabase.follow(at: directory)
    var seen: Int64 = 0
    try await count(name, in: database) { _ in
        try await database.refresh()
        let app = try await number("app", in: database)
        if app < seen { say("wrong: \(name) saw the app at \(seen), then at \(app)") }
        seen = app
    }
}

func check(_ directory: String) async throws {
    let database = try await SyncDatabase.open(at: directory)
    for row in try await database.rows(of: "rows").query(RowQuery(table: "rows")).rows {
        if case .integer(let number)? = row.columns["n"] { say("found \(row.id) \(number)") }
    }
    try await database.close()
}

let words = CommandLine.arguments.dropFirst()
do {
    switch words.first {
    case "app": try await app(words[2])
    case "widget": try await widget(words[2], words[3])
    case "check": try await check(words[2])
    default: say("wrong: store-process app|widget|check DIRECTORY [NAME]")
    }
} catch {
    say("wrong: \(error)")
    exit(1)
}
