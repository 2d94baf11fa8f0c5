// Batch requests to the simulated server: each write works as if it had come alone; those of a group are applied all
// or none.

import SynclineCore
import SynclineWire

struct SimulatedBatch {
    let request: HTTPRequest
    let protocolVersion: ServerProtocol

    private typealias Result = (status: Int, error: (String, String)?, row: TableRow?)

    private static let notAttempted: Result = (
        424, ("An operation before this one was refused", "not-attempted"), nil
    )
    private static let groupRefused: Result = (
        424, ("Another operation of the group was refused", "group-refused"), nil
    )

    func answer(_ state: inout SimulatedServer.State) throws(TableRequestError) -> HTTPResponse {
        let batch = try BatchRequest(request.body ?? [], protocolVersion)
        var answer = BatchAnswer()
        var isStopped = false
        for group in batch.groups {
            let operations = group.map { batch.operations[$0] }
            let results = isStopped ? group.map { _ in SimulatedBatch.notAttempted } : carryOut(operations, &state)
            isStopped = isStopped || batch.stopsAtRefusal && results.contains { $0.error != nil }
            for (status, error, row) in results {
                answer.add(
                    status: status, error: error.map { (message: $0.0, code: $0.1) }, row: row, protocolVersion,
                    wantsRow: batch.wantsRows || error != nil)
            }
        }
        return answer.response()
    }

    private func carryOut(
        _ group: [BatchRequest.Operation], _ state: inout SimulatedServer.State
    ) -> [Result] {
        let before = state
        var results: [Result] = []
        for (place, operation) in group.enumerated() {
            let result = carryOut(operation, &state)
            results.append(result)
            guard result.error != nil, group.count > 1 else { continue }
            state = before
            return group.indices.map { $0 == place ? result : SimulatedBatch.groupRefused }
        }
        return results
    }

    private func carryOut(_ operation: BatchRequest.Operation, _ state: inout SimulatedServer.State) -> Result {
        var parsed = TableRequest(operation, protocolVersion)
        parsed.id = state.spelling(of: parsed.id, in: parsed.table)
        let done = SimulatedExchange(request: request, parsed: parsed).applyOnce(&state)
        switch done.response.status {
        case 204: return (200, nil, done.row)
        case 200..<300: return (done.response.status, nil, done.row)
        case 404: return (404, ("The item does not exist", "row-not-found"), nil)
        case 410: return (410, ("The item is deleted", "row-deleted"), nil)
        case let status: return (status, ("The item is another one", "precondition-failed"), done.row)
        }
    }
}
