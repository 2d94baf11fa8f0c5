// A query's cursor as JSON.

import SynclineCore

extension JSONValue {
    init(cursor: (table: String, queryID: String, state: CursorState)) {
        self = [
            "table": .string(cursor.table), "queryId": .string(cursor.queryID),
            "position": .string(cursor.state.position), "query": .string(cursor.state.query),
            "updated": .string(Timestamp(.init(milliseconds: cursor.state.updated)).description),
        ]
    }
}
