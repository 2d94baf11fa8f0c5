// A table's changes in commit order, and notifications about them.

import SynclineCore
import SynclineGround
package import SynclineWire

extension TableService {
    func changes(
        _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ visit: Visit
    ) throws(ServiceFailure) -> HTTPResponse {
        let table = visit.table
        let asked = try read { () throws(TableRequestError) -> ChangeRequest in
            let asked = try ChangeRequest(request, protocolVersion, rules(for: table, request))
            if let asked { return asked }
            throw TableRequestError(400, "A cursor is required", protocolVersion, code: "invalid-cursor")
        }
        try checkNames((asked.filter?.columns ?? []).union((asked.select ?? []).exact), table)
        let plan = ChangePlan(
            table: table.name, since: asked.since?.change ?? 0, sinceID: asked.since?.id, until: asked.until?.change,
            limit: min(asked.top ?? .max, settings.maxTop), filter: asked.filter, owner: visit.owner,
            counts: asked.counts)
        let outcome = try ask { () throws(StoreFailure) in try store.changes(plan) }
        return try read { () throws(TableRequestError) in
            try TableAnswer(protocolVersion).changes(
                asked, outcome.changes, hasMore: outcome.hasMore, count: outcome.count, outcome.mark,
                limit: settings.answerBytes)
        }
    }

    // MARK: Events

    package func events(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse? {
        guard request.method == "GET", request.path.hasSuffix("$events"),
            route(of: request) == .events
        else { return nil }
        do throws(ServiceFailure) {
            let caller = try caller(context)
            // Any caller with read access to some table may subscribe.
            let grants = settings.tables.map { AccessDecision.decide(.read, $0, caller) }
            if !grants.contains(where: \.isGranted) {
                throw .refused(caller == nil ? AccessDecision.loginNeeded : AccessDecision.notPermitted)
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
