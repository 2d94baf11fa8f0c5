// Requests that read or write one row each: many of them are answered together.

package import SynclineWire

/// A request that reads or writes a row, whose caller may do so.
package struct SingleRequest: Sendable {
    fileprivate enum Work {
        case read(TableRequest)
        case write(TableWrite)
    }

    package let request: HTTPRequest
    fileprivate let work: Work
    fileprivate let visit: Visit
    fileprivate let url: String
    /// A longer body is read by a worker.
    fileprivate static let bytes = 16 << 10

    package var isWrite: Bool { if case .write = work { true } else { false } }
}

extension TableService {
    /// The part of a request that others may share; nil for a request that only `answer` can answer, such as one that is
    /// refused.
    package func single(_ request: HTTPRequest, _ context: inout RequestContext) -> SingleRequest? {
        guard request.body?.count ?? 0 <= SingleRequest.bytes else { return nil }
        let route = route(of: request)
        let (name, id): (String, String)
        switch route {
        case .table(let table) where request.method == "POST": (name, id) = (table, "")
        case .row(let table, let row): (name, id) = (table, row)
        default: return nil
        }
        guard request.method != "OPTIONS", route.methods.contains(request.method) else { return nil }
        var request = request
        if request.method == "HEAD" { request.method = "GET" }
        do throws(StoreFailure) {
            let version = try read(try TableRequest.version(of: request, settings.defaultProtocol, settings.rules))
            let caller = try caller(request, &context)
            let visit = try admit(caller, name, TableService.operation(request.method, isRow: !id.isEmpty))
            // The rights to a row take more statements to read.
            if request.method == "GET", !visit.table.rules.isEmpty { return nil }
            let rules = rules(for: visit.table, request)
            let parsed = try read(
                try TableRequest(request, version, table: visit.table.name, id: id, rules: rules))
            let work: SingleRequest.Work
            switch parsed.action {
            case .row: work = .read(parsed)
            // A patch needs the row first.
            case .list, .patch: return nil
            case .insert, .update, .replace, .delete, .undelete:
                work = .write(try write(parsed, request.headers, visit))
            }
            return SingleRequest(request: request, work: work, visit: visit, url: context.url)
        } catch {
            return nil
        }
    }

    /// Answers requests together, which all read or all write.
    package func answer(_ singles: [SingleRequest]) -> [(response: HTTPResponse, notes: RequestNotes)] {
        var (reads, writes) = ([] as [RowRead], [] as [TableWrite])
        for one in singles {
            switch one.work {
            case .read(let parsed):
                reads.append(RowRead(table: one.visit.table.name, id: parsed.id, caller: one.visit.caller))
            case .write(let write): writes.append(write)
            }
        }
        var rows = reads.isEmpty ? [] : store.rows(together: reads)[...]
        var outcomes = writes.isEmpty ? [] : store.write(together: writes)[...]
        return singles.map { one in
            var notes = RequestNotes()
            do throws(StoreFailure) {
                switch one.work {
                case .read(let parsed):
                    return (try answer(rows.removeFirst().get(), one.request, parsed, one.visit), notes)
                case .write(let write):
                    let outcome = try outcomes.removeFirst().get()
                    return (try answer(outcome, one.request, write.serverProtocol, one.visit, one.url), notes)
                }
            } catch {
                return (refused(error, route(of: one.request), &notes), notes)
            }
        }
    }
}
