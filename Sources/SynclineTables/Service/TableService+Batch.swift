// Many writes in one transaction, each with its own result.

import SynclineCore
import SynclineWire

extension TableService {
    /// An operation that may be attempted, or the reason why it is refused before any row is read.
    private typealias Admitted = Result<TableWrite, Refusal>

    func batch(
        _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ caller: Caller?, _ notes: inout RequestNotes
    ) throws(ServiceFailure) -> HTTPResponse {
        if let type = request.headers.value("Content-Type"), !type.lowercased().hasPrefix("application/json") {
            throw .refused(Refusal(415, "unsupported-media-type", "A body must be application/json"))
        }
        let batch = try read { () throws(TableRequestError) in
            try BatchRequest(request.body ?? [], protocolVersion)
        }
        let admitted = batch.groups.map { group in
            group.map { admit(batch.operations[$0], protocolVersion, caller) }
        }
        let outcomes = try carryOut(admitted, batch)
        var answer = BatchAnswer(limit: settings.answerBytes)
        for (operation, outcome) in zip(batch.operations, outcomes.joined()) {
            let isReadable = (try? table(operation.table)).map { mayRead($0, caller) } ?? false
            if case .failed(let failure) = outcome, let reason = failure.reason { notes.failure = reason }
            add(outcome, to: &answer, protocolVersion, wantsRow: batch.wantsRows, isReadable: isReadable)
        }
        return answer.response()
    }

    private func admit(
        _ operation: BatchRequest.Operation, _ protocolVersion: ServerProtocol, _ caller: Caller?
    ) -> Admitted {
        do throws(ServiceFailure) {
            return .success(try write(operation, protocolVersion, caller))
        } catch {
            return .failure(error.refusal)
        }
    }

    private func write(
        _ operation: BatchRequest.Operation, _ protocolVersion: ServerProtocol, _ caller: Caller?
    ) throws(ServiceFailure) -> TableWrite {
        let table = try table(operation.table)
        let kind: TableWrite.Kind
        let permission: TableOperation
        switch operation.kind {
        case .insert: (kind, permission) = (.insert(operation.item.columns), .insert)
        case .update: (kind, permission) = (.update(operation.item.columns), .update)
        case .replace: (kind, permission) = (.replace(operation.item.columns), .update)
        case .delete: (kind, permission) = (.delete, .delete)
        case .undelete: (kind, permission) = (.undelete, .undelete)
        }
        let owner = try grant(permission, table, caller)
        var item = operation.item
        item.id = operation.id
        var write =
            operation.kind == .insert
            ? try insert(item, table, protocolVersion)
            : TableWrite(kind, table: table.name, id: operation.id, serverProtocol: protocolVersion)
        write.owner = owner
        write.version = operation.item.version
        write.conditions.match = operation.version.map { .versions([$0]) }
        write.operation = try self.operation(operation.operationID, caller)
        return write
    }

    /// The outcomes in order. A group with an operation that is refused in advance is not attempted.
    private func carryOut(_ groups: [[Admitted]], _ batch: BatchRequest) throws(ServiceFailure) -> [[WriteOutcome]] {
        let stops = batch.stopsAtRefusal
        var tried: [[TableWrite]] = []
        var known: [Int: [WriteOutcome]] = [:]
        var isStopped = false
        for (index, group) in groups.enumerated() {
            let writes = group.compactMap { try? $0.get() }
            if isStopped {
                known[index] = group.map { _ in .notAttempted }
            } else if writes.count == group.count {
                tried.append(writes)
            } else {
                known[index] = group.map { admitted in
                    if case .failure(let refusal) = admitted { return .refused(refusal, nil) }
                    return .groupRefused
                }
                isStopped = stops
            }
        }
        let results = try ask { () throws(StoreFailure) in
            try store.write(tried, stopsAtRefusal: stops, wantsRows: batch.wantsRows)
        }
        let hasStopped = stops && results.contains { $0.contains(where: \.isRefused) }
        var rest = results[...]
        return groups.indices.map { index in
            guard let outcome = known[index] else { return rest.removeFirst() }
            // Execution stopped before it reached this operation.
            return hasStopped ? outcome.map { _ in .notAttempted } : outcome
        }
    }

    private func add(
        _ outcome: WriteOutcome, to answer: inout BatchAnswer, _ protocolVersion: ServerProtocol, wantsRow: Bool,
        isReadable: Bool
    ) {
        let status: Int
        var error: (String, String)?
        var row = outcome.row
        switch outcome {
        case .done(let effect, _): status = effect == .inserted ? 201 : 200
        case .refused(let refusal, _):
            status = refusal.status
            error = (refusal.message, refusal.code)
            if ![409, 412].contains(status) { row = nil }
        case .failed(let failure):
            let refusal = ServiceFailure.store(failure).refusal
            status = refusal.status
            error = (refusal.message, refusal.code)
        }
        answer.add(
            status: status, error: error, row: row, protocolVersion, wantsRow: wantsRow || outcome.isRefused,
            isReadable: isReadable)
    }
}
