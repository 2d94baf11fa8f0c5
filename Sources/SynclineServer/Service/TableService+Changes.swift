// A table's changes in commit order, and notifications about them.

import SynclineCore
import SynclineGround
import SynclineWire

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
            limit: min(asked.top ?? .max, configuration.maxTop), filter: asked.filter, owner: visit.owner,
            counts: asked.counts)
        let outcome = try ask { () throws(StoreFailure) in try store.changes(plan) }
        return try read { () throws(TableRequestError) in
            try TableAnswer(protocolVersion).changes(
                asked, outcome.changes, hasMore: outcome.hasMore, count: outcome.count, outcome.mark,
                limit: configuration.limits.answerBytes)
        }
    }

    // MARK: Events

    func events(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse? {
        guard request.method == "GET", request.path.hasSuffix("$events"),
            route(of: request) == .events
        else { return nil }
        var response = HTTPResponse(status: 200)
        do throws(ServiceFailure) {
            let caller = try caller(context)
            // Any caller with read access to some table may subscribe.
            let grants = configuration.tables.map { AccessDecision.decide(.read, $0, caller) }
            if !grants.contains(where: \.isGranted) {
                throw .refused(caller == nil ? AccessDecision.loginNeeded : AccessDecision.notPermitted)
            }
            response.headers = [HTTPHeader("Content-Type", "text/event-stream")]
        } catch {
            response = refused(error, .events, &context.notes)
        }
        return marked(response)
    }

    func cursor() -> String? {
        guard let mark = try? store.mark() else { return nil }
        return ChangeCursor(epoch: mark.epoch, change: mark.change).text
    }
}
