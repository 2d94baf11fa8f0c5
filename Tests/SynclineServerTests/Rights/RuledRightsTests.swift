// Every way to write, by callers who may not see a row, over tables with every form of rule: no answer has a value of the row,
// and where the row must exist, each is that about a row that never did.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

/// A table whose rows Ann sees by a rule, and what callers may write by another.
private struct RuledTable {
    var name: String
    var read: String
    /// The setting of each write; nil for the rule of reading.
    var write: String?

    static let reads = [
        "owner eq auth.sub", "list in share(list where user eq auth.sub)",
        "account in account(id where household in member(household where user eq auth.sub))",
        "owner eq auth.sub or list in share(list where user eq auth.sub) or kind eq 'open'",
    ]
    /// The others let everybody write what only Ann sees.
    static let writes: [String?] = [nil, "authenticated", "kind eq 'shut'"]

    static let all = reads.flatMap { read in
        writes.map { RuledTable(name: "", read: read, write: $0) }
    }.enumerated().map { RuledTable(name: "t\($0)", read: $1.read, write: $1.write) }

    var json: String {
        let writes = ["insert", "update", "delete", "undelete"].compactMap { operation in
            write.map { #","\#(operation)":"\#($0)""# }
        }.joined()
        return #"""
            "\#(name)":{"columns":{"owner":"string","list":"string","account":"string","kind":"string",
            "secret":"string","number":"number","own":"string"},"read":"\#(read)"\#(writes)}
            """#
    }

    static var configuration: String {
        let admin = ["insert", "update", "delete", "undelete"].map { #""\#($0)":"role:admin""# }.joined(separator: ",")
        let others = [
            #""share":{"columns":{"user":"string","list":"string"},\#(admin)}"#,
            #""member":{"columns":{"user":"string","household":"string"},\#(admin)}"#,
            #""account":{"columns":{"household":"string"},\#(admin)}"#,
        ]
        return "{\((all.map(\.json) + others).joined(separator: ","))}"
    }
}

@Suite struct RuledRightsTests {
    private static let time: Int64 = 1_741_782_896_789
    private static let values = ["SECRET", "918273645", "2025-03-12", "12 Mar 2025"]
    private static let ann = Visitor(name: "ann", roles: ["admin"])
    /// Bob could see the rows by his memberships, and lost them.
    private static let blind = [Visitor(), Visitor(name: "eve"), Visitor(name: "bob")]

    private func uuid(_ table: Int, _ number: Int, _ kind: Int = 0) -> String {
        func digits(_ number: Int, _ count: Int) -> String {
            String(String(number + 1 << 40, radix: 16).suffix(count))
        }
        return "\(digits(table, 8))-000\(kind)-7000-8000-\(digits(number, 10))00"
    }

    private func account() -> String { "00000000-0000-7000-8000-00000000000a" }

    /// Sends writes as Ann, of whom all rows are.
    private func carryOut(_ desk: ServiceDesk, _ operations: [String]) throws {
        for start in stride(from: 0, to: operations.count, by: 1000) {
            let part = operations[start..<min(start + 1000, operations.count)].joined(separator: ",")
            let answer = try desk.ask(
                "POST", "/tables/$batch", #"{"rows":false,"onRefusal":"stop","operations":[\#(part)]}"#,
                Self.ann.headers)
            #expect(answer.status == 200 && !answer.text.contains(#""code""#), "\(answer.text.prefix(400))")
        }
    }

    private func fill(_ desk: ServiceDesk, rows: Int) throws {
        func insert(_ table: String, _ item: String) -> String {
            #"{"operation":"insert","table":"\#(table)","item":\#(item)}"#
        }
        var operations = [insert("account", #"{"id":"\#(account())","household":"h"}"#)]
        for user in ["ann", "bob"] {
            operations.append(insert("share", #"{"id":"\#(user)","user":"\#(user)","list":"l"}"#))
            operations.append(insert("member", #"{"id":"\#(user)","user":"\#(user)","household":"h"}"#))
        }
        try carryOut(desk, operations)
        for (index, table) in RuledTable.all.enumerated() {
            var made: [String] = []
            for number in 0..<rows {
                for kind in [0, 1] {
                    let id = uuid(index, number, kind)
                    let item =
                        #"{"id":"\#(id)","owner":"ann","list":"l","account":"\#(account())","kind":"shut","#
                        + #""secret":"SECRET \#(id)","number":918273645}"#
                    made.append(insert(table.name, item))
                    if kind == 1 { made.append(#"{"operation":"delete","table":"\#(table.name)","id":"\#(id)"}"#) }
                }
            }
            try carryOut(desk, made)
        }
    }

    /// Whether the answer must be that about a row that never existed: an insert of a hidden id is told apart.
    private func needsRow(_ attempt: Attempt) -> Bool {
        !["insert", "replace"].contains { attempt.name.contains($0) }
    }

    @Test(arguments: TestBackend.stores)
    func `no answer has a value of a row that rules hide`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: RuledTable.configuration)
        let rounds = Self.blind.flatMap { visitor in [false, true].map { (visitor, $0) } }
        desk.environment.set(now: Self.time)
        try fill(desk, rows: rounds.count * Attempt.all.count)
        desk.environment.set(now: 1_767_225_600_000)
        try carryOut(desk, ["share", "member"].map { #"{"operation":"delete","table":"\#($0)","id":"bob"}"# })
        var (count, compared) = (0, 0)
        for (index, table) in RuledTable.all.enumerated() {
            var number = 0
            for (visitor, isNew) in rounds {
                var guesses: [String: Set<String>] = [:]
                for attempt in Attempt.all {
                    let kind = attempt.isAboutTombstone ? 1 : 0
                    let id = uuid(index, number, kind)
                    number += 1
                    var first: HTTPResponse?
                    for isRepeat in [false, true] where !isRepeat || first?.status ?? 0 < 300 {
                        let answer = try attempt.send(to: desk, table.name, id, visitor, new: isNew)
                        count += 1
                        first = first ?? answer
                        let told = "\(answer.status) \(answer.headers.map { "\($0.name): \($0.value)" }) \(answer.text)"
                        for value in Self.values {
                            #expect(!told.contains(value), "\(table) \(visitor) \(attempt.name) new \(isNew): \(told)")
                        }
                    }
                    guard let first else { continue }
                    if let guess = attempt.guess {
                        guesses[guess, default: []].insert("\(first.status) \(first.code ?? "")")
                    }
                    guard needsRow(attempt), attempt.path.contains("ID") || attempt.path == "$batch" else { continue }
                    let none = uuid(index, number, 2)
                    let answer = try attempt.send(to: desk, table.name, none, visitor, new: isNew)
                    compared += 1
                    let isSame = answer.status == first.status && answer.text.replacing(none, with: id) == first.text
                    #expect(
                        isSame,
                        "\(table) \(visitor) \(attempt.name) new \(isNew): \(first.status) \(first.text), not \(answer.text)"
                    )
                }
                for (guess, answers) in guesses {
                    #expect(answers.count == 1, "\(table) \(visitor) \(guess) new \(isNew): \(answers)")
                }
            }
        }
        #expect(count > 5000 && compared > 2000, "\(count) requests, \(compared) compared")
        // All of it is as it was.
        for (index, table) in RuledTable.all.enumerated() {
            let answer = try desk.ask("GET", "/tables/\(table.name)/\(uuid(index, 0))", nil, Self.ann.headers)
            #expect(answer.status == 200 && answer.text.contains("SECRET"))
        }
    }
}
