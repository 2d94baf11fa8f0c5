// Many writes in one transaction, each with its own result.

import SynclineCore
import SynclineWire

extension TableService {
    /// An operation that may be attempted, or the reason why it is refused before any row is read.
    private typealias Admitted = Result<TableWrite, Refusal>

    func batch(
        _ request: HTTPRequest, _ protocolVersion: ServerProtocol, _ caller: Caller?, _ notes: inout RequestNotes
    ) throws(StoreFailure) -> HTTPResponse {
        if let type = request.headers.value("Content-Type"), !type.lowercased().hasPrefix("application/json") {
            throw .refused(Refusal(415, "unsupported-media-type", "A body must be application/json"))
        }
        let batch = try read(try BatchRequest(request.body ?? [], protocolVersion))
        let admitted = batch.groups.map { group in
            group.map { admit(batch.operations[$0], protocolVersion, caller) }
        }
        let outcomes = try carryOut(admitted, batch)
        var answer = BatchAnswer(limit: settings.answerBytes)
        for (operation, outcome) in zip(batch.operations, outcomes.joined()) {
            let table = try? table(operation.table)
            let isReadable = table?.permits(.read, caller) ?? false && outcome.row?.isHidden != true
            let hidden = table?.hidden(from: caller) ?? HiddenColumns()
            if case .failed(let failure) = outcome, let reason = failure.reason { notes.failure = reason }
            add(outcome, hidden, to: &answer, protocolVersion, wantsRow: batch.wantsRows, isReadable: isReadable)
        }
        return marked(answer.response(), outcomes.joined().compactMap { $0.shownRow?.change }.max())
    }

    private func admit(
        _ operation: BatchRequest.Operation, _ protocolVersion: ServerProtocol, _ caller: Caller?
    ) -> Admitted {
        do throws(StoreFailure) {
            let permission = TableOperation(rawValue: operation.kind.rawValue) ?? .update
            let visit = try admit(caller, operation.table, permission)
            return .success(try write(TableRequest(operation, protocolVersion), [], visit))
        } catch {
            return .failure(error.refusal)
        }
    }

    /// The outcomes in order. A group with an operation that is refused in advance is not attempted.
    private func carryOut(_ groups: [[Admitted]], _ batch: BatchRequest) throws(StoreFailure) -> [[WriteOutcome]] {
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
        let results = try store.write(tried, stopsAtRefusal: stops, wantsRows: batch.wantsRows)
        let hasStopped = stops && results.contains { $0.contains(where: \.isRefused) }
        var rest = results[...]
        return groups.indices.map { index in
            guard let outcome = known[index] else { return rest.removeFirst() }
            // Execution stopped before it reached this operation.
            return hasStopped ? outcome.map { _ in .notAttempted } : outcome
        }
    }

    private func add(
        _ outcome: WriteOutcome, _ hidden: HiddenColumns, to answer: inout BatchAnswer,
        _ protocolVersion: ServerProtocol, wantsRow: Bool, isReadable: Bool
    ) {
        let (status, refusal): (Int, Refusal?) =
            switch outcome {
            case .done(let effect, _): (effect == .inserted ? 201 : 200, nil)
            case .refused(let refusal, _): (refusal.status, refusal)
            case .failed(let failure): (failure.refusal.status, failure.refusal)
            }
        answer.add(
            status: status, error: refusal.map { ($0.message, $0.code) }, row: outcome.shownRow.map(hidden.shown),
            protocolVersion, wantsRow: wantsRow || outcome.isRefused, isReadable: isReadable)
    }
}
