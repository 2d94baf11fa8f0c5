// The code of the page about SQL.

import Syncline
import SynclineSQL

enum SQLSnippets {
    static func sql() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        try await database.rows(of: "list").insert(["id": "l", "name": "shop"])
        try await database.rows(of: "todoitem").insert(["id": "a", "list": "l", "text": "milk", "complete": false])
        let before = database.lastEvent
        try await database.rows(of: "todoitem").update(["id": "a", "text": "oat milk"])

        let rows = try await database.sql(
            "select list.name, count(*) as items from todoitem join list on list.id = todoitem.list group by list.id")

        struct Entry: Decodable, Hashable, Sendable {
            var id: String
            var text: String
        }
        let entries = try await database.sql(
            "select id, text from todoitem where complete = :complete order by text limit 50", ["complete": false],
            as: Entry.self)

        let changed = try await database.sql(
            "select new.id, old.text, new.text from todoitem new join \"todoitem@\(before)\" old using (id) "
                + "where new.text is not old.text")

        expect(rows.map(\.values) == [["shop", 1]])
        expect(entries == [Entry(id: "a", text: "oat milk")])
        expect(changed.map(\.values) == [["a", "milk", "oat milk"]])
    }

    static func rowFiles() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "oat milk"])
        let copy = try await SyncDatabase.open(at: "copy")

        try await database.export(["todoitem"], as: .csv, to: "todo.csv")
        try await database.export(as: .sqlite, to: "all.sqlite")
        try await copy.importRows(into: "todoitem", from: "todo.csv", as: .csv)

        expect(try await copy.rows(of: "todoitem").get(id: "a")?.columns["text"] == "oat milk")
    }

    static func files() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "oat milk"])

        let search = FullText(database, [FullTextIndex("todoitem", columns: ["text"], prefixes: [2, 3])])
        let matches = try await search.search("todoitem", TextQuery("oat mi"))

        let mirror = SQLMirror(database, at: "mirror.sqlite")
        try await mirror.update()

        expect(matches.map(\.snippet) == ["[oat] [milk]"])
    }
}
