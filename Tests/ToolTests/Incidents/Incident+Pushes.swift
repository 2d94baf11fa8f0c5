// Changes that do not arrive at the server, or arrive as something else.

import Syncline
import SynclineCore
import SynclineTesting
import SynclineWire

extension Incident {
    static let pushes = [
        Incident("lost reply", "row", ["row": "t/a"], says: "and no answer was recorded. The server may have it") {
            await $0.beginChange()
            await $0.push(.dropAnswer)
        },
        Incident("offline", "pending", says: "no answer was recorded") {
            await $0.beginChange()
            $0.network.setOffline(true)
            await $0.push()
        },
        Incident(
            "killed while pushing", "row", ["row": "todoitem/c"], says: "no answer was recorded. The server may have it"
        ) {
            try $0.log.tell(Array(Story.events.prefix(9)))
        },
        Incident("token expired", "row", ["row": "t/a"], says: "the server answered 401, and the push stopped") {
            await $0.beginChange()
            await $0.push(.answer(status: 401))
        },
        Incident("no permission to write", "row", ["row": "t/a"], says: "the server answered 403") {
            await $0.beginChange()
            await $0.push(.answer(status: 403))
        },
        Incident("refused as invalid", "status", says: "\"status\":400") {
            await $0.beginChange()
            await $0.push(.answer(status: 400))
        },
        Incident("too large for the server", "pending", says: "the server answered 413") {
            await $0.beginChange()
            await $0.push(.answer(status: 413))
        },
        Incident("the server fails", "row", ["row": "t/a"], says: "the server answered 500 to every attempt") {
            await $0.beginChange()
            await $0.push(.answer(status: 500))
        },
        Incident(
            "the server is overloaded", "row", ["row": "t/a"], says: "and no answer was recorded"
        ) {
            await $0.beginChange()
            await $0.push(.answer(status: 503))
        },
        Incident("conflict with another client", "status", says: "The row was changed here and on the server.") {
            await $0.beginChange()
            $0.server.upsert([Asking.row("a", "theirs")], in: "t")
            await $0.push()
        },
        Incident("conflict found by a pull", "row", ["row": "t/a"], says: "changed meanwhile (a pull found it)") {
            await $0.beginChange()
            $0.server.upsert([Asking.row("a", "theirs")], in: "t")
            await $0.pull("--query-id", "sync", "--no-push")
        },
        Incident("changed here, deleted there", "row", ["row": "t/a"], says: "the row is gone from the server") {
            await $0.beginChange()
            $0.server.remove(["a"], from: "t")
            await $0.push()
        },
        Incident("inserted by two devices", "row", ["row": "t/new"], says: "the server answered 409") {
            await $0.begin()
            $0.server.upsert([Asking.row("new", "theirs")], in: "t")
            await $0.call("insert", "t", Asking.row("new", "mine").json)
            await $0.push()
        },
        Incident("held", "row", ["row": "t/a"], says: "it is held until the row is released") {
            await $0.beginChange()
            await $0.call("hold", "t/a")
        },
        Incident("never pushed", "row", ["row": "t/a"], says: "no push has run since it was made") {
            await $0.beginChange()
        },
        Incident("no server is set", "status", says: "server      none") {
            await $0.call("init")
            await $0.call("insert", "t", Asking.row("a", "milk").json)
        },
        Incident("behind another operation", "row", ["row": "t/a"], says: "it waits for ~1, which is on the same row") {
            await $0.beginChange()
            await $0.push(.answer(status: 400))
            await $0.change("a", "rye")
        },
        Incident("changed by another process", "status", says: "waiting") {
            await $0.begin()
            let follower = try await SyncDatabase.follow(at: $0.log.path)
            try await follower.rows(of: "t").insert(["id": "w", "text": "bread"])
            try await follower.close()
        },
    ]
}
