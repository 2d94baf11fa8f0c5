// A table's changes in commit order, and notifications about them.

import SynclineCore
import SynclineGround
package import SynclineWire

extension TableService {
    func changes(
        _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ visit: Visit
    ) throws(StoreFailure) -> HTTPResponse {
        let table = visit.table
        guard let asked = try read(try ChangeRequest(request, protocolVersion, rules(for: table, request))) else {
            throw .refused(Refusal(400, "invalid-cursor", "A cursor is required"))
        }
        try checkNames((asked.filter?.columns ?? []).union((asked.select ?? []).exact), table)
        let plan = ChangePlan(
            table: table.name, since: asked.since?.change ?? 0, sinceID: asked.since?.id, until: asked.until?.change,
            limit: min(asked.top ?? .max, settings.rules.maximalTop ?? .max), filter: asked.filter, owner: visit.owner,
            subject: visit.subject, counts: asked.counts)
        let outcome = try store.changes(plan)
        return try read(
            try TableAnswer(protocolVersion).changes(
                asked, outcome.changes, hasMore: outcome.hasMore, count: outcome.count, outcome.mark,
                limit: settings.answerBytes))
    }

    // MARK: Events

    package func events(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse {
        do throws(StoreFailure) {
            let caller = try caller(request, &context)
            // Any caller with read access to some table may subscribe.
            if !settings.tables.contains(where: { $0.permits(.read, caller) }) {
                throw .refused(caller == nil ? .loginNeeded : .notPermitted)
            }
            var response = HTTPResponse(status: 200)
            response.headers = [HTTPHeader("Content-Type", "text/event-stream")]
            return response
        } catch {
            return refused(error, .events, &context.notes)
        }
    }

    package func cursor() -> String? {
        guard let mark = try? store.mark() else { return nil }
        return ChangeCursor(epoch: mark.epoch, change: mark.change).text
    }
}
