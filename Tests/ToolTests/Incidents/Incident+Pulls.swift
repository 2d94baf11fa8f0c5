// Rows that are missing or different, because of what pulls received.

import Syncline
import SynclineCore
import SynclineTesting

extension Incident {
    private static let feed = {
        var options = SimulatedServer.Options()
        options.tellsChanges = true
        return options
    }()

    static let pulls = [
        Incident("deleted on the server", "row", ["row": "t/b"], says: "it was deleted on the server") {
            await $0.begin()
            $0.server.upsert([.object([.init("id", "b"), .init("deleted", .bool(true))])], in: "t")
            await $0.pull()
        },
        Incident("left the query", "row", ["row": "t/b"], says: "it no longer matches the query", options: feed) {
            $0.server.setTable("t", rows: ["a", "b"].map { Asking.row($0, "milk") })
            await $0.call("init", "--backend", "http://127.0.0.1:9")
            await $0.pull("--query-id", "mine", "--filter", "n eq 1")
            $0.server.upsert([Asking.row("b", "milk", n: 2)], in: "t")
            await $0.pull("--query-id", "mine", "--filter", "n eq 1")
        },
        Incident("outside the query", "row", ["row": "t/z"], says: "no pull received it (queries: sync)") {
            await $0.begin()
            $0.server.upsert([Asking.row("z", "milk", n: 9)], in: "t")
        },
        Incident("never pulled", "row", ["row": "t/a"], says: "no pull of t with a query id has run") {
            await $0.call("init", "--backend", "http://127.0.0.1:9")
        },
        Incident(
            "overwritten by a pull", "row", ["row": "t/a.text"], says: "text is \"theirs\": a pull (sync) received it"
        ) {
            await $0.begin()
            $0.server.upsert([Asking.row("a", "theirs")], in: "t")
            await $0.pull()
        },
        Incident("purged", "row", ["row": "t/b"], says: "it was purged here") {
            await $0.begin()
            await $0.call("purge", "t")
        },
        Incident("removed for good on the server", "row", ["row": "t/b"], says: "it was not among them") {
            await $0.begin()
            $0.server.remove(["b"], from: "t")
            $0.server.forgetDeletions()
            await $0.pull("--query-id", "sync", "--reconcile")
        },
        Incident("a row of the server can't be read", "status", says: "\"id\":\"bad\"") {
            await $0.begin()
            _ = await Call.tool(words: ["pull", "odd", "--no-push"], on: $0.log, transport: BranchTests.OddServer())
        },
        Incident("a value of another type", "status", says: "value does not fit its column") {
            await $0.begin()
            await $0.call("config", "columns", "t", "n:integer")
            $0.server.upsert([.object([.init("id", "b"), .init("n", "seven")])], in: "t")
            await $0.pull()
        },
        Incident("the sync would bring it", "sync", says: "added t/z") {
            await $0.begin()
            $0.server.upsert([Asking.row("z", "milk")], in: "t")
        },
        Incident("the server can't be reached", "sync", says: "the connection was lost") {
            await $0.begin()
            $0.network.setOffline(true)
        },
        Incident("the token expired", "sync", says: "the server requires other credentials") {
            await $0.begin()
            $0.network.script([.answer(status: 401)])
        },
        Incident("a stale cursor", "status", says: "t/sync at ") {
            await $0.begin()
            $0.server.upsert([Asking.row("z", "milk")], in: "t")
        },
        Incident("the id is spelled in another case", "row", ["row": "t/A"], says: "Did you mean t/a?") {
            await $0.begin()
        },
        Incident("the table is misspelt", "row", ["row": "tt/a"], says: "t/a") {
            await $0.begin()
        },
        Incident("the column is misspelt", "row", ["row": "t/a.tetx"], says: "Did you mean text?") {
            await $0.begin()
        },
    ]
}
