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
        let named = (asked.filter?.columns ?? []).union((asked.select ?? []).exact)
        try checkNames(named, table)
        try visit.hidden.check(named)
        var plan = ChangePlan(
            table: table.name, since: asked.since?.change ?? 0, sinceID: asked.since?.id, until: asked.until?.change,
            limit: min(asked.top ?? .max, settings.rules.maximalTop ?? .max), filter: asked.filter,
            subject: visit.caller?.subject, counts: asked.counts)
        // A reader who says nothing may have seen anything.
        let mark = request.headers.value(WireHeader.mark).flatMap { ChangeCursor($0) } ?? .unknown
        plan.seen = seen([asked.since, asked.until, mark].compactMap(\.self))
        var outcome = try store.changes(plan)
        // A replica may have shown what the primary shows only once other replicas have it.
        for cursor in [asked.since, asked.until].compactMap(\.self) where store.hasReplicas {
            if cursor.epoch == outcome.mark.epoch, max(cursor.change, cursor.known) > outcome.mark.change {
                throw .busy(FailureReason(.busy, "a replica has shown changes that the primary does not show yet"))
            }
        }
        for index in outcome.changes.indices {
            outcome.changes[index].row = visit.hidden.shown(outcome.changes[index].row)
        }
        let response = try read(
            try TableAnswer(protocolVersion).changes(
                asked, outcome.changes, hasMore: outcome.hasMore, count: outcome.count, outcome.mark,
                limit: settings.answerBytes))
        return marked(response, outcome.mark.change)
    }

    /// The response with the latest change that it shows, if readers must say what they have seen.
    func marked(_ response: HTTPResponse, _ change: @autoclosure () -> Int64?) -> HTTPResponse {
        guard store.hasReplicas, let change = change() else { return response }
        var response = response
        response.headers.append(HTTPHeader(WireHeader.mark, ChangeCursor(epoch: store.epoch, change: change).text))
        return response
    }

    /// The latest change of some marks. One of another epoch may stand for anything.
    private func seen(_ marks: [ChangeCursor]) -> Int64 {
        let epoch = store.epoch
        return marks.reduce(0) { $1.epoch == epoch ? max($0, $1.change, $1.known) : .max }
    }

    // MARK: Events

    /// The head of a stream of events, and the tables whose changes it tells: those that the caller may read, of all or
    /// of the ones that the request names.
    package func events(
        _ request: HTTPRequest, _ context: inout RequestContext
    ) -> (response: HTTPResponse, interest: EventInterest) {
        do throws(StoreFailure) {
            let caller = try caller(request, &context)
            let readable = try named(request).filter { $0.permits(.read, caller) }
            if readable.isEmpty { throw .refused(caller == nil ? .loginNeeded : .notPermitted) }
            var response = HTTPResponse(status: 200)
            response.headers = [HTTPHeader("Content-Type", "text/event-stream")]
            let hasRules = readable.contains { $0.rules.read != nil }
            return (response, EventInterest(Set(readable.map(\.name)), subject: hasRules ? caller?.subject : nil))
        } catch {
            return (refused(error, .events, &context.notes), EventInterest([]))
        }
    }

    /// The tables that a request for events names; unknown ones are ignored if it names a known one.
    private func named(_ request: HTTPRequest) throws(StoreFailure) -> [TableDefinition] {
        guard let list = request.query.first(where: { $0.isNamed("tables") })?.value else { return settings.tables }
        let names = list.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
        if names.contains("") { throw .refused(Refusal(400, "invalid-tables", "tables must be a list of tables")) }
        let known = names.compactMap { try? table($0) }
        return known.isEmpty ? [try table(names[0])] : known
    }

    /// What changed since a mark; nil if it is not available now. A row that leads to rows of another table by its rule
    /// changes what callers see there.
    package func news(since known: ChangeMark?, isWhole: Bool) -> ChangeNews? {
        guard var news = try? store.news(since: known, isWhole: isWhole) else { return nil }
        guard let known, let changed = news.tables else { return news }
        for table in settings.tables where table.rules.read != nil {
            let changesRights = table.rules.isLed(byAnyOf: changed)
            if changesRights { news.tables?.insert(table.name) }
            guard changesRights || changed.contains(table.name),
                let touched = store.touched(table.name, after: known.change, through: news.mark.change)
            else { continue }
            news.rights[table.name] = RightsNews(touched, changesRights: changesRights)
        }
        return news
    }

    /// The buckets of a caller at a mark, by those of some tables for which they are known.
    package func buckets(_ tables: Set<String>, of subject: String, at mark: ChangeMark) -> CallerBuckets {
        var found: CallerBuckets = [:]
        for table in tables { found[table] = store.buckets(table, of: subject, at: mark.change) }
        return found
    }
}

extension ChangeCursor {
    /// One of no epoch.
    fileprivate static let unknown = ChangeCursor(epoch: "", change: 0)
}

extension TableRow {
    /// The number of its latest change.
    var change: Int64? { RowVersion.change(version) }
}
