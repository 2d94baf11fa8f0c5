// Changes that a person made, or a policy, or an app.

import Syncline
import SynclineCore
import SynclineTesting
import SynclineWire

extension Incident {
    private static func conflict(_ asking: Asking, policy: String) async {
        await asking.beginChange()
        asking.server.upsert([Asking.row("a", "theirs")], in: "t")
        await asking.push(policy: policy)
    }

    static let changes = [
        Incident("the wrong policy: mine won", "row", ["row": "t/a.text"], says: "by the policy client-wins") {
            await conflict($0, policy: "client-wins")
        },
        Incident("the wrong policy: theirs won", "row", ["row": "t/a"], says: "by the policy server-wins") {
            await conflict($0, policy: "server-wins")
        },
        Incident("a merge combined both", "row", ["row": "t/a"], says: "by the policy merge") {
            await $0.beginChange()
            $0.server.upsert([Asking.row("a", "milk", n: 5)], in: "t")
            await $0.push(policy: "merge")
        },
        Incident("a person took the server's", "row", ["row": "t/a"], says: "take-server") {
            await conflict($0, policy: "fail")
            await $0.call("resolve", "t/a", "--take-server")
        },
        Incident("undone insert", "row", ["row": "t/new"], says: "the transaction that inserted it was undone") {
            await $0.begin()
            await $0.call("insert", "t", Asking.row("new", "mine").json)
            await $0.call("undo")
        },
        Incident("undone update", "row", ["row": "t/a.text"], says: "was undone") {
            await $0.beginChange()
            await $0.call("undo")
        },
        Incident("dropped change", "row", ["row": "t/a.text"], says: "the pending changes were dropped") {
            await $0.beginChange()
            await $0.call("drop", "t/a")
        },
        Incident("dropped insert", "row", ["row": "t/new"], says: "the operation that inserted it was dropped") {
            await $0.begin()
            await $0.call("insert", "t", Asking.row("new", "mine").json)
            await $0.call("drop", "t/new")
        },
        Incident("deleted here, not pushed", "row", ["row": "t/a"], says: "and the server does not know yet") {
            await $0.begin()
            await $0.call("delete", "t", "a")
        },
        Incident("deleted here, confirmed", "row", ["row": "t/a"], says: "the server confirmed the delete") {
            await $0.begin()
            await $0.call("delete", "t", "a")
            await $0.push()
        },
        Incident("inserted and deleted again", "row", ["row": "t/new"], says: "before it was ever sent") {
            await $0.begin()
            await $0.call("insert", "t", Asking.row("new", "mine").json)
            await $0.call("delete", "t", "new")
        },
        Incident("several changes became one", "row", ["row": "t/a"], says: "It is made of 3 changes") {
            await $0.beginChange()
            await $0.change("a", "rye")
            await $0.change("a", "spelt")
        },
        Incident("an old string came back", "search", ["text": "oats"], says: "oats") {
            await $0.beginChange()
            await $0.change("a", "rye")
        },
        Incident("since when two wait", "bisect", ["condition": "pending ge 2"], says: "local") {
            await $0.beginChange()
            await $0.change("b", "rye")
        },
        Incident("what the last sync changed", "diff", ["from": "@-2"], says: "\"milk\" → \"theirs\"") {
            await $0.begin()
            $0.server.upsert([Asking.row("a", "theirs")], in: "t")
            await $0.pull()
        },
        Incident("changed on a branch only", "status", says: "branches    draft") {
            await $0.begin()
            await $0.call("branch", "create", "draft")
            await $0.call("update", "t", "{\"id\":\"a\",\"text\":\"draft\"}", "--branch", "draft")
        },
        Incident("a local column", "row", ["row": "t/a.note"], says: "It never leaves this device.") {
            await $0.begin()
            var configuration = SyncConfiguration()
            configuration.schema = SyncSchema(
                version: 1,
                tables: [TableSchema("t", columns: [.column("text"), .column("n")], localColumns: ["note"])])
            let app = try await SyncDatabase.open(at: $0.log.path, configuration)
            try await app.rows(of: "t").update(["id": "a", "note": "mine"])
            try await app.close()
        },
    ]
}
