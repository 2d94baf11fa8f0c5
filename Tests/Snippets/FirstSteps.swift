// The code of the README and of "Getting started".

import Foundation
import Syncline

enum FirstSteps {
    static func table() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let todos = try database.table(TodoItem.self)

        try await todos.insert(TodoItem(text: "milk"))  // on the disk when this returns
        let open = try await todos.where { !$0.complete }.order(by: \.text).get()

        expect(open.map(\.text) == ["milk"])
    }

    static func changes() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let todos = try database.table(TodoItem.self)
        let original = try await todos.insert(TodoItem(id: "a", text: "milk"))

        try await todos.update(id: "a") { $0.complete = true }  // reads, changes and stores in one step

        var edited = original
        edited.text = "oat milk"
        try await todos.update(edited, from: original)  // stores the columns in which the two differ

        let item = try await todos.get(id: "a")
        expect(item?.text == "oat milk" && item?.complete == true)
    }

    static func together() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let todos = try database.table(TodoItem.self)
        try await todos.insert(TodoItem(id: "a", text: "milk"))

        try await database.transaction { transaction in  // atomic; one disk sync
            try transaction.insert(TodoItem(id: "b", text: "bread"), in: todos)
            try transaction.delete("todoitem", id: "a")
        }

        expect(try await todos.all().map(\.text) == ["bread"])

        let renamed = try await todos.where { $0.text == "bread" }.update { $0.text = "rye bread" }
        let done = try await todos.where { $0.complete }.delete()

        expect(renamed == 1 && done == 0)
        expect(try await todos.all().map(\.text) == ["rye bread"])
    }

    struct Reminder: SyncModel {
        var id = SyncID.make()
        var text: String
        var due: Date
        var tags: [String] = []
    }

    static func dates() async throws {
        let database = try await SyncDatabase.open(at: "notes")

        let reminders = try database.table(Reminder.self)
        try await reminders.insert(Reminder(text: "bread", due: .now))
        let late = try await reminders.where { $0.due <= Date.now && !$0.text.hasPrefix("later") }.get()
        let tagged = try await reminders.where { $0.tags.contains("shop") }.get()

        expect(late.map(\.text) == ["bread"] && tagged.isEmpty)
    }

    struct Expense: SyncModel {
        var id = SyncID.make()
        var trip: String
        var price: Int
    }

    struct Site: SyncModel {
        var id = SyncID.make()
        var name: String
    }

    struct Finding: SyncModel {
        static let site = Relation(\Finding.siteID, to: Site.self)

        var id = SyncID.make()
        var text: String
        var siteID: String
    }

    static func relations() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let (sites, findings) = try (database.table(Site.self), database.table(Finding.self))
        let mill = try await sites.insert(Site(name: "Mill"))
        try await findings.insert(Finding(text: "crack", siteID: mill.id))

        let page = findings.where { $0.text != "" }.order(by: \.text).limit(50)
        for (finding, site) in try await page.with(Finding.site).get() {
            print(finding.text, site?.name ?? "no site")
        }
        for (site, findings) in try await sites.with(all: Finding.site).get() {
            print(site.name, findings.count)
        }
        let list = Task {
            for try await page in try sites.with(all: Finding.site).observe() {
                for (site, findings) in page { print(site.name, findings.count) }
            }
        }

        let atMill = findings.where { $0.related(Finding.site) { $0.name == "Mill" } }
        let cracked = sites.where { $0.related(any: Finding.site) { $0.text == "crack" } }

        expect(try await atMill.count() == 1)
        expect(try await cracked.count() == 1)
        for section in try await page.sections(by: \.siteID).get() {
            print(section.key, section.count, section.models.map(\.text))  // count: also those beyond the limit
        }

        expect(try await page.with(Finding.site).get().first?.related?.name == "Mill")
        try await database.close()
        try await list.value
    }

    static func totals() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let expenses = try database.table(Expense.self)
        for price in [5, 20, 30] { try await expenses.insert(Expense(trip: "Rome", price: price)) }

        let (count, total) = try await expenses.where { $0.price > 10 }.compute(.count, .sum(\.price))
        let trips = try await expenses.grouped(by: \.trip).compute(.count, .sum(\.price))
        for (trip, (count, total)) in trips { print(trip, count, total) }

        expect(count == 2 && total == 50)
    }

    static func watch() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let todos = try database.table(TodoItem.self)
        let list = Task {
            for try await items in try todos.where({ !$0.complete }).observe() {
                print(items.map(\.text))
            }
        }
        try await todos.insert(TodoItem(text: "milk"))
        list.cancel()
    }

    @MainActor
    static func views(_ database: SyncDatabase) throws {
        let todos = try database.table(TodoItem.self)
        let open = LiveQuery(todos.where { !$0.complete }.order(by: \.text))  // open.models, for views
        let monitor = SyncMonitor(database)  // monitor.pending, monitor.conflicts, monitor.phase

        let words = "milk"
        open.show(todos.where { $0.text.contains(words) }.order(by: \.text))

        print(open.models.map(\.text), monitor.pending)
    }

    static func unreadable(_ database: SyncDatabase) async throws {
        let todos = try database.table(TodoItem.self)
            .skippingUndecodable { error in print(error) }  // todoitem/c, and the column

        for await outcome in try database.table(TodoItem.self).observe().outcomes {
            switch outcome {
            case .success(let items): print(items.map(\.text))
            case .failure(let error): print(error)  // the next list follows
            }
        }
        print(try await todos.all().count)
    }

    static func server() async throws {
        var configuration = SyncConfiguration()
        configuration.backend = "https://example.com"  // tables at /tables
        configuration.credentials = FixedToken("secret")  // or a provider of your own, asked again after a 401
        let database = try await SyncDatabase.open(at: "notes", configuration)
        let todos = try database.table(TodoItem.self)

        let pushed = try await database.push()  // sends everything pending; reports each operation
        let pulled = try await todos.pull(id: "open") { !$0.complete }  // only rows changed since the last pull

        for conflict in try await todos.conflicts() {  // stored until resolved
            try await todos.resolve(conflict, .merge)
        }

        print(pushed.outcome, pulled.changed)
    }

    static func both() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let report = try await database.sync(["todoitem"])
        if let reason = report.reason { print(reason.code, reason.message) }
    }

    static func automatic() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        let sync = try database.startAutomaticSync(AutomaticSyncSettings(tables: ["todoitem"]))
        for await status in sync.statuses() {
            print(status.phase, status.pending, status.conflicts)
        }
    }

    static func wrongServer() async throws {
        let configuration = SyncConfiguration(backend: "http://127.0.0.1:9")  // no server listens there
        let database = try await SyncDatabase.open(at: "notes", configuration)

        if case .stopped(let reason) = try await database.push().outcome {
            print(reason.code, reason.message)  // offline, and why
        }
        print(try await database.pending().count)  // unchanged
    }

    static func refresh(_ database: SyncDatabase) async throws {
        let report = try await database.push { progress in
            if case .pushing(let done, let total) = progress { print("\(done) of \(total)") }
        }
        for operation in report.operations where operation.outcome != .done {
            print(operation.table, operation.id, operation.outcome)
        }

        let pulled = try await database.pull("todoitem", PullSettings(queryID: "all"))
        print(pulled.received, pulled.changed)
    }

    static func untyped(_ database: SyncDatabase) async throws {
        let table = database.rows(of: "todoitem")
        try await table.insert(["text": "milk", "tags": ["shop", "today"], "priority": 2])
        let query = RowQuery(table: "todoitem", filter: try .init(parsing: "priority gt 1"), order: [.init("text")])
        for row in try await table.query(query).rows {
            print(row.id, row.columns["text"] ?? .null)
        }
    }

    static func online(_ database: SyncDatabase) async throws {
        let backend = try await database.backend()
        let page = try await backend.rows(of: "todoitem").query(RowQuery(table: "todoitem", top: 10))
        print(page.rows.count)
    }

    static func lists(_ database: SyncDatabase) async throws {
        try await database.declareIndex(table: "todoitem", columns: ["complete", "due"], including: ["text"])
        let todos = try database.table(TodoItem.self)
        let list = todos.where { !$0.complete }.order(byColumn: "due", .descending).limit(50)
        let page = try await list.page()
        let next = try await list.page(after: page)  // nil after the last one
        print(page.models.count, next?.models.count ?? 0)
        print(try await list.explain())  // uses the index on complete, due in its order: 51 entries, 50 rows
        var items: [TodoItem] = []
        for try await change in try list.observe().differences {
            change.difference.apply(to: &items)
        }
    }
}
