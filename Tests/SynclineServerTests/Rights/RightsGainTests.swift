// Pages on which a caller gains rows, and what happened before the gain, at its place, and after it.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct RightsGainTests {
    private static let tables = #"""
        {"note":{"columns":{"list":"string","text":"string"},"read":"list in share(list where user eq auth.sub)"},
        "share":{"columns":{"user":"string","list":"string"},"insert":"role:admin","update":"role:admin",
          "delete":"role:admin","undelete":"role:admin"}}
        """#
    private static let admin = ["X-ZUMO-AUTH": token("root", claims: #","roles":["admin"]"#)]

    private func note(_ number: Int) -> String { "00000000-0000-4000-8000-00000000000\(number)" }

    private func insert(_ number: Int, _ list: String) -> String {
        #"{"operation":"insert","table":"note","item":{"id":"\#(note(number))","list":"\#(list)"}}"#
    }

    private func change(_ number: Int, list: String, more: String = "") -> String {
        #"{"operation":"update","table":"note","id":"\#(note(number))","item":{"list":"\#(list)"}\#(more)}"#
    }

    private func share(_ list: String, _ user: String = "ann", more: String = "") -> String {
        let id = list + (user == "ann" ? "" : user)
        return
            #"{"operation":"insert","table":"share","item":{"id":"\#(id)","user":"\#(user)","list":"\#(list)"}\#(more)}"#
    }

    private func end(_ list: String) -> String { #"{"operation":"delete","table":"share","id":"\#(list)"}"# }

    /// Carries out operations, the first ones before Ann reads, and returns what she hears of later: the last digits of ids, and
    /// a minus sign before each that left, in order.
    private func heard(
        _ backend: TestBackend, _ before: [String], _ after: [String], page: Int
    ) throws -> String {
        let desk = try ServiceDesk(backend, tables: Self.tables)
        func carryOut(_ operations: [String]) throws {
            // Each at a time of its own.
            for part in operations.map({ $0.contains(#""group""#) ? operations : [$0] }) {
                desk.environment.set(now: desk.environment.now() + 10)
                let body = #"{"operations":[\#(part.joined(separator: ","))]}"#
                let answer = try desk.ask("POST", "/tables/$batch", body, Self.admin)
                #expect(!answer.text.contains(#""code""#), "\(answer.text)")
                if part.count > 1 { return }
            }
        }
        func read(_ cursor: String) throws -> (text: String, cursor: String) {
            var (text, cursor) = ("", cursor)
            while true {
                let target = "/tables/note/changes?since=\(cursor)&$top=\(page)"
                let answer = try desk.ask("GET", target, nil, ["X-ZUMO-AUTH": token("ann")]).json
                guard case .array(let items)? = answer["items"], case .string(let next)? = answer["cursor"] else {
                    Issue.record("\(answer.json)")
                    return (text, cursor)
                }
                for item in items {
                    text += (item["left"] == nil ? "" : "-") + "\(item["id"]?.string?.last ?? "?")"
                }
                cursor = next
                if answer["hasMore"] != .bool(true) { return (text, cursor) }
            }
        }
        try carryOut(["l0", "l1", "l2", "l9"].map { share($0, "root") } + [share("l0")] + before)
        let cursor = try read("").cursor
        try carryOut(after)
        return try read(cursor).text
    }

    @Test(arguments: TestBackend.stores)
    func `what is gained comes after what changed and what left before`(_ backend: TestBackend) throws {
        let before = [insert(5, "l0"), insert(6, "l0"), insert(1, "l1"), insert(2, "l1"), insert(3, "l2")]
        let cases: [(after: [String], heard: String)] = [
            // A gain alone, and two at different places.
            ([share("l1")], "12"), ([share("l2"), share("l1")], "312"),
            // Before it a change, a row that left, and the end of another right.
            ([change(5, list: "l0"), share("l1")], "512"), ([change(5, list: "l9"), share("l1")], "-512"),
            ([end("l0"), share("l1")], "-5-612"),
            // The same after it.
            ([share("l1"), change(5, list: "l0")], "125"), ([share("l1"), change(5, list: "l9")], "12-5"),
            ([share("l1"), end("l0")], "12-5-6"),
            // A row of the list that changed afterwards, one that left it, and one that came.
            ([share("l1"), change(1, list: "l1")], "21"), ([share("l1"), change(1, list: "l9")], "2-1"),
            ([share("l1"), change(3, list: "l1")], "123"), ([share("l1"), end("l1")], "-1-2"),
            // Several lists at one place, and a row that changed afterwards.
            (["l1", "l2"].map { share($0, more: #","group":"g""#) } + [change(1, list: "l1")], "231"),
            // At the same place: all writes of a group give and take rights at its end.
            (
                [share("l1", more: #","group":"g""#), change(6, list: "l9", more: #","group":"g""#)],
                "12-6"
            ),
            ([share("l1", more: #","group":"g""#), change(6, list: "l0", more: #","group":"g""#)], "126"),
        ]
        for (place, one) in cases.enumerated() {
            for page in [1, 2, 50] {
                let heard = try heard(backend, before, one.after, page: page)
                #expect(heard == one.heard, "case \(place), page \(page)")
            }
        }
    }

    /// Gives Ann a right again, by another row.
    private func again(_ id: String, _ list: String = "l0") -> String {
        #"{"operation":"insert","table":"share","item":{"id":"\#(id)","user":"ann","list":"\#(list)"}}"#
    }

    @Test(arguments: TestBackend.stores)
    func `rows that came and went are told where they were lost last`(_ backend: TestBackend) throws {
        let (out, back) = (change(5, list: "l9"), change(5, list: "l0"))
        let cases: [(after: [String], heard: String)] = [
            ([out, back, out, back], "5"), ([out, back, out, back, out], "-5"),
            // With a right that ended and began again, once or more often.
            ([end("l0"), again("x")], "56"), ([end("l0"), again("x"), end("x")], "-5-6"),
            ([end("l0"), again("x"), end("x"), again("y"), end("y"), again("z")], "56"),
            // The row left while the right lasted, and came and went while there was none.
            ([out, end("l0"), back, out, again("x")], "-56"), ([out, end("l0"), back, again("x")], "56"),
            ([out, back, end("l0"), out, back, out, again("x")], "-56"),
            // It left while there was no right.
            ([end("l0"), out, again("x")], "-56"), ([end("l0"), out, back, again("x")], "56"),
            ([end("l0"), out, again("x"), end("x")], "-5-6"), ([end("l0"), again("x"), out, end("x")], "-5-6"),
            ([end("l0"), out, again("x"), back, end("x"), again("y")], "56"),
            ([end("l0"), again("x"), end("x"), out, again("y"), end("y"), again("z")], "-56"),
        ]
        for (place, one) in cases.enumerated() {
            for page in [1, 2, 50] {
                let heard = try heard(backend, [insert(5, "l0"), insert(6, "l0")], one.after, page: page)
                #expect(heard == one.heard, "case \(place), page \(page)")
            }
        }
    }
}
