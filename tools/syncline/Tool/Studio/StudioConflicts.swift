// Conflicts for the page: the columns that collide, what each state means, and what each decision would leave.

import SynclineCore

extension StudioData {
    func conflicts(at event: UInt64?) throws -> JSONValue {
        try states.read(at: event) { state in
            let all = try state.reader.conflicts()
            return [
                "at": .number(state.through), "whole": .boolean(state.isWhole), "count": .number(all.count),
                "systemColumns": .array(Item.systemColumns.sorted().map(JSONValue.string)),
                "conflicts": .array(try all.prefix(100).map { try $0.preview(state.reader) }),
            ]
        }
    }
}

extension Conflict {
    /// The conflict with its sentence, and each decision with what it would leave.
    func preview(_ reader: StateReader) throws -> JSONValue {
        let entry = try reader.entry(table, id)
        return json().adding([
            "sentence": .string(sentence), "colliding": .array(collidingColumns.map(JSONValue.string)),
            "decisions": .array(
                [("take-server", .takeServer), ("keep-mine", .keepMine), ("merge", .merge)].map {
                    outcome($0, $1, entry)
                }),
        ])
    }

    /// `{"choice","row","sends","columns"}`, or `{"choice","error","hint"}` for a decision that is not possible.
    private func outcome(_ choice: String, _ decision: ConflictDecision, _ entry: RowEntry?) -> JSONValue {
        do throws(SyncError) {
            let change = try resolution(decision, hasBase: entry?.base != nil)?.change
            return [
                "choice": .string(choice),
                "row": .row(id, entry?.visible(after: change)),
                "sends": .optional(change.map { "\($0.kind)" }),
                "columns": .array((change?.columns.columns ?? []).map(JSONValue.string)),
            ]
        } catch {
            return ["choice": .string(choice), "error": .string(error.message), "hint": .optional(error.hint)]
        }
    }
}
