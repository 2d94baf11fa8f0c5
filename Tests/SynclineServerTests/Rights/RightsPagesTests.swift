// Pages of callers who see few, half or all lists of a table: in every order they have exactly the callers' rows, each once.

import LogTesting
import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

/// Rows in lists that users see, written to a store and kept beside it.
private struct SharedRows {
    struct Note {
        var list: String
        var text: String
        var kind: String
    }

    let store: SQLStore
    let keeper: AnyObject
    private var chance: Chance
    private(set) var notes: [String: Note] = [:]
    private var shares: Set<String> = []
    private(set) var users: [String: Set<String>] = [:]
    static let lists = (0..<24).map { "list \($0)" }

    init(_ backend: TestBackend, read rule: String, seed: UInt64) throws {
        let tables = #"""
            {"note":{"columns":{"list":"string","text":"string","kind":"string"},"read":"\#(rule)"},
            "share":{"columns":{"user":"string","list":"string"},"softDelete":false,
              "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"}}
            """#
        let settings = try configuration(#"{"auth":{"key":"\#(testSecret)"},"tables":\#(tables)}"#)
        let (database, keeper) = try backend.database()
        (store, self.keeper) = (try SQLStore(database, settings.tables, StillEnvironment()), keeper)
        chance = Chance(seed: seed)
    }

    private func write(_ table: String, _ writes: [(String, TableWrite.Kind)]) throws {
        let groups = writes.map { id, kind in
            var write = TableWrite(kind, table: table, id: id, serverProtocol: .zumo2)
            write.caller = SynclineTables.Caller(subject: "writer")
            return [write]
        }
        let refused = try store.write(groups, stopsAtRefusal: true).joined().filter(\.isRefused)
        #expect(refused.isEmpty)
    }

    private func row(_ columns: KeyValuePairs<String, String>) -> Row {
        Row(columns.map { Value.Member($0.key, .string($0.value)) })
    }

    /// Lets a user see more lists, chosen by chance.
    mutating func share(_ user: String, _ count: Int) throws {
        let new = SharedRows.lists.filter { !(users[user]?.contains($0) ?? false) }.shuffled(using: &chance).prefix(
            count)
        users[user, default: []].formUnion(new)
        try write("share", new.map { ("\(user) \($0)", .insert(row(["user": user, "list": $0]))) })
    }

    /// Inserts rows; later ones come into fewer lists.
    mutating func insert(_ count: Int, into lists: Int) throws {
        var writes: [(String, TableWrite.Kind)] = []
        for _ in 0..<count {
            let id = "00000000000000000000000" + Hexadecimal.text(chance.below(1 << 30) + (1 << 32), digits: 9)
            let note = Note(
                list: SharedRows.lists[chance.below(lists)], text: "text \(chance.below(40))",
                kind: chance.once(in: 12) ? "open" : "shut")
            if notes.updateValue(note, forKey: id) != nil { continue }
            writes.append((id, .insert(row(["list": note.list, "text": note.text, "kind": note.kind]))))
        }
        try write("note", writes)
    }

    /// Changes the texts of some rows, moves others to another list, and deletes others.
    mutating func change(_ count: Int) throws {
        var writes: [(String, TableWrite.Kind)] = []
        for id in notes.keys.sorted().shuffled(using: &chance).prefix(count) {
            switch chance.below(3) {
            case 0:
                notes[id]?.text = "new \(chance.below(40))"
                writes.append((id, .update(row(["text": notes[id]?.text ?? ""]))))
            case 1:
                notes[id]?.list = chance.pick(SharedRows.lists)
                writes.append((id, .update(row(["list": notes[id]?.list ?? ""]))))
            default:
                notes[id] = nil
                writes.append((id, .delete))
            }
        }
        try write("note", writes)
    }

    func seen(by user: String, isOpen: Bool) -> [String: Note] {
        notes.filter { (users[user]?.contains($0.value.list) ?? false) || isOpen && $0.value.kind == "open" }
    }
}

@Suite struct RightsPagesTests {
    private static let rules = [
        "list in share(list where user eq auth.sub)", "list in share(list where user eq auth.sub) or kind eq 'open'",
    ]

    private func filled(_ backend: TestBackend, _ rule: String, _ seed: UInt64) throws -> SharedRows {
        var rows = try SharedRows(backend, read: rule, seed: seed)
        try rows.share("writer", 24)
        for (user, count) in [("none", 0), ("one", 1), ("some", 6), ("most", 14), ("all", 24)] {
            try rows.share(user, count / 2)
        }
        try rows.insert(300, into: 24)
        try rows.change(60)
        for (user, count) in [("one", 1), ("some", 3), ("most", 7), ("all", 12)] { try rows.share(user, count) }
        try rows.insert(150, into: 5)
        try rows.change(60)
        return rows
    }

    /// The ids of all pages of a list.
    private func walk(_ plan: ListPlan, _ store: SQLStore, skips: Bool) throws -> [TableRow] {
        var (plan, found) = (plan, [] as [TableRow])
        while true {
            let page = try store.list(plan)
            #expect(page.rows.count <= plan.limit)
            found += page.rows
            guard page.hasMore, let last = page.rows.last else { return found }
            if skips { plan.skip += page.rows.count } else { plan.after = PagePlace(last, order: plan.order) }
        }
    }

    @Test(arguments: [TestBackend.sqlite] + (PrivatePostgres.shared == nil ? [] : [.postgres]), rules)
    func `pages in every order have the caller's rows once`(_ backend: TestBackend, _ rule: String) throws {
        let rows = try filled(backend, rule, 1)
        for user in ["none", "one", "some", "most", "all"] {
            let seen = rows.seen(by: user, isOpen: rule.contains("or"))
            for limit in [9, 1000] { try check(rows.store, user, seen, limit) }
        }
    }

    private func check(_ store: SQLStore, _ user: String, _ seen: [String: SharedRows.Note], _ limit: Int) throws {
        func plan(_ order: [RowQuery.Key], _ filter: FilterExpression? = nil) -> ListPlan {
            var plan = ListPlan(table: "note", order: order, limit: limit)
            (plan.subject, plan.filter) = (user, filter)
            return plan
        }
        let ids = seen.keys.sorted()
        let byID: RowQuery.Key = .init("id", descending: false)
        #expect(try walk(plan([byID]), store, skips: false).map(\.id) == ids)
        #expect(try walk(plan([]), store, skips: true).map(\.id) == ids)
        let new = FilterExpression.compare(.less, .column(["text"]), .literal(.string("o")))
        let changed = ids.filter { seen[$0]?.text.hasPrefix("new") ?? false }
        #expect(try walk(plan([byID], new), store, skips: false).map(\.id) == changed)
        let byText: RowQuery.Key = .init("text", descending: false)
        func isBefore(_ one: String, _ other: String) -> Bool {
            (seen[one]?.text ?? "", one) < (seen[other]?.text ?? "", other)
        }
        #expect(try walk(plan([byText]), store, skips: true).map(\.id) == ids.sorted(by: isBefore))
        #expect(try walk(plan([byText], new), store, skips: true).map(\.id) == changed.sorted(by: isBefore))
        var counting = plan([byID])
        counting.counts = true
        #expect(try store.list(counting).count == ids.count)
        let byTime = try walk(plan([.init("updatedAt", descending: false)]), store, skips: false)
        #expect(byTime.map(\.id).sorted() == ids)
        #expect(byTime.map(\.updatedAt.milliseconds) == byTime.map(\.updatedAt.milliseconds).sorted())
        var feed = ChangePlan(table: "note", since: 0, limit: limit)
        feed.subject = user
        var told: [String] = []
        while true {
            let page = try store.changes(feed)
            told += page.changes.filter { $0.isInView && !$0.row.isDeleted }.map(\.row.id)
            guard page.hasMore, let last = page.changes.last else { break }
            #expect(last.number >= feed.since)
            (feed.since, feed.sinceID) = (last.number, last.row.id)
        }
        #expect(told.sorted() == ids)
    }
}
