// The code of the pages about stores: schemas, durability, conflicts, history.

import Syncline

enum StoreSnippets {
    static func schema() async throws {
        var configuration = SyncConfiguration()
        configuration.schema = SyncSchema(
            version: 3,
            tables: [
                TableSchema("todoitem", columns: [.column("title", onServer: "text")], localColumns: ["isExpanded"]),
                TableSchema("list"),
            ],
            isStrict: true,  // any other table: unknown-table
            migrations: [
                Migration(
                    to: 2,
                    steps: [
                        .renameColumn(table: "todoitem", from: "text", to: "title"),
                        .dropColumn(table: "todoitem", column: "color"),
                    ]),
                Migration(
                    to: 3,
                    steps: [
                        .addColumn(table: "todoitem", column: "priority", default: 2),
                        .transform(table: "list", column: "name") { name in
                            if case .string(let text) = name { .string(text.uppercased()) } else { name }
                        },
                        .dropTable("checklist"),
                    ]),
            ])
        let database = try await SyncDatabase.open(at: "notes", configuration)

        try await database.close()
    }

    static func durability() async throws {
        var configuration = SyncConfiguration()
        configuration.durability = .ordered  // quick; the newest changes may be lost with the power, never the order
        let database = try await SyncDatabase.open(at: "notes", configuration)
        try await database.transaction(durability: .durable) { transaction in
            try transaction.insert("payment", ["id": "p1", "amount": 12.5])
        }

        expect(try await database.rows(of: "payment").count() == 1)
    }

    static func retention(_ database: SyncDatabase) async throws {
        try await database.set(retention: .days(30))
        let report = try await database.compact()
        print(report.firstEvent, report.bytesRemoved)
    }

    static func loggingOut(_ database: SyncDatabase) async throws {
        let pushed = try await database.push()
        guard case .complete = pushed.outcome else { return }  // ask the user before pending changes are lost
        try await database.erase()  // closes the store and removes every file of it
    }

    static func history() async throws {
        let database = try await SyncDatabase.open(at: "notes")
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "milk"])
        let before = database.lastEvent
        try await database.rows(of: "todoitem").update(["id": "a", "text": "oat milk"])

        let then = try await database.history(at: before)  // the store as of that event

        print(try await then.get("todoitem", id: "a")?.columns["text"] ?? .null)  // milk

        for difference in try await database.differences(from: before) {
            for field in difference.fields {
                print(difference.id, field.name, field.before ?? .null, field.after ?? .null)
            }
        }

        for origin in try await database.blame("todoitem", id: "a") ?? [] {
            print(origin.field, origin.event, origin.cause)
        }

        try await database.undo()

        expect(try await database.rows(of: "todoitem").get(id: "a")?.columns["text"] == "milk")
    }

    static func restoring() async throws {
        let database = try await SyncDatabase.open(at: "restored")
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "milk"])
        let then = try database.present
        try await database.rows(of: "todoitem").delete(id: "a")

        let plan = try await then.restoration(of: .table("todoitem"))
        for change in plan.changes { print(change.id, change.before == nil ? "returns" : "changes") }
        try await database.restore(plan)

        expect(try await database.rows(of: "todoitem").get(id: "a")?.columns["text"] == "milk")

        try await database.undo()  // reverts the newest transaction that was not sent
        try await database.redo()  // makes it again, as a new transaction

        for await steps in database.observeUndoSteps().outcomes {
            guard let steps = try? steps.get() else { continue }
            print(steps.undo.first?.name ?? "nothing", steps.redo.count)
            break
        }

        let event = database.lastEvent
        try await database.restore(try await database.restoration(undoing: event))

        expect(try await database.rows(of: "todoitem").get(id: "a") == nil)
    }

    static func branch() async throws {
        let database = try await SyncDatabase.open(at: "branched")
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "milk"])

        try await database.makeBranch("draft")
        let draft = try await database.openBranch("draft")
        try await draft.rows(of: "todoitem").update(["id": "a", "text": "oat milk"])
        try await draft.close()

        let landing = try await database.landing(of: "draft")
        if landing.moved.isEmpty { try await database.land("draft") }

        expect(try await database.rows(of: "todoitem").get(id: "a")?.columns["text"] == "oat milk")
    }

    static func conflicts(_ database: SyncDatabase) async throws {
        for conflict in try await database.conflicts() {
            print(conflict.table, conflict.id, conflict.reason)
            print(conflict.base?["text"] ?? .null, conflict.mine?["text"] ?? .null, conflict.server?["text"] ?? .null)
            try await database.resolve(table: conflict.table, id: conflict.id, .takeServer)
        }
    }

    static func typedConflicts(_ database: SyncDatabase) async throws {
        let todos = try database.table(TodoItem.self)
        for conflict in try await todos.conflicts() {
            guard let mine = conflict.mine, var joined = conflict.server else { continue }
            joined.complete = joined.complete || mine.complete
            joined.text = "\(joined.text) / \(mine.text)"
            try await todos.resolve(conflict, with: joined)
        }
    }

    static func policy(_ database: SyncDatabase) async throws {
        var settings = PushSettings()
        settings.policy = .custom(name: "done stays done") { conflict in
            conflict.mine?["complete"] == true ? .keepMine : .takeServer
        }
        let report = try await database.push(settings)
        print(report.outcome)
    }

    static func errors(_ database: SyncDatabase) async throws {
        do {
            try await database.rows(of: "todoitem").insert(["id": "a", "text": "milk"])
        } catch let error where error.code == .rowExists {
            try await database.rows(of: "todoitem").update(["id": "a", "text": "milk"])
        } catch {
            print(error)  // the code, a sentence, and what to do next
        }
    }

    static func datasync() async throws {
        let configuration = SyncConfiguration(
            serverProtocol: .datasync3, backend: "https://example.com", credentials: FixedToken("secret"))
        let database = try await SyncDatabase.open(at: "notes", configuration)

        try await database.close()
    }

    static func foreignServer() throws -> PullSettings {
        var settings = PullSettings(queryID: "mine", filter: try .init(parsing: "owner eq 'me'"))
        settings.overlap = .seconds(5)  // longer than the server's longest write transaction
        settings.reconciles = true  // find rows that were hard-deleted, or left the filter

        return settings
    }
}

/// Asks the user for a token when the server refuses the current one.
struct Session: CredentialProvider {
    let backend: Backend

    func token(insteadOf refused: String?) async throws -> AccessToken? {
        AccessToken(try await backend.refreshSignIn())
    }
}
