// The output of `why` as JSON.

import SynclineCore

extension WhyReport {
    var json: JSONValue {
        [
            "table": .string(row.table), "id": .string(row.id), "visibility": .string(visibilityName),
            "field": field.map { .string($0) },
            "reason": gone.map { .string($0.absence.rawValue) },
            "event": gone.map { .string("@\($0.disappearance.first.event)") },
            "settled": gone.map { .string("@\($0.disappearance.latest.event)") },
            "fields": .array(fields.map { json($0) }),
            "operations": .array(explanation.operations.map { json($0) }),
            "attempt": explanation.attempt.map { attempt in
                [
                    "sent": .string("@\(attempt.sent)"), "answered": .optional(attempt.answered.map { "@\($0)" }),
                    "status": attempt.answer.map { .number($0.status) } ?? .null,
                    "outcome": .optional(attempt.answer?.outcome.name),
                ]
            },
            "lostRight": explanation.lostRight.map { .string("@\($0)") },
            "near": .array(near.map(JSONValue.string)),
            "next": .array(next.map { ["command": .string($0.command), "effect": .string($0.effect)] }),
            "sentences": .array(sentences.map { .string($0.text) }),
        ]
    }

    private var gone: (absence: RowAbsence, disappearance: Disappearance)? {
        if case .hidden(let absence, let disappearance) = explanation.visibility {
            (absence, disappearance)
        } else {
            nil
        }
    }

    private var visibilityName: String {
        switch explanation.visibility {
        case .visible: "visible"
        case .hidden: "hidden"
        case .unknown: "unknown"
        }
    }

    private func json(_ field: RowExplanation.Field) -> JSONValue {
        field.origin.json(redacts: redacts).adding(["standing": .string(field.standing.rawValue)])
    }

    private func json(_ waiting: RowExplanation.Waiting) -> JSONValue {
        let collapsed = made.first { $0.operation.position == waiting.operation.position }
        return OutboxJSON.json(waiting.operation, fields: collapsed?.fields ?? [], number: waiting.number)
            .adding(members(waiting.obstacle))
            .adding([
                "made": .array(
                    (collapsed?.changes ?? []).map { change in
                        [
                            "event": .string("@\(change.position.event)"), "kind": .string("\(change.kind)"),
                            "rule": .string(change.rule),
                        ]
                    })
            ])
    }

    private func members(_ obstacle: RowExplanation.Obstacle) -> KeyValuePairs<String, JSONValue?> {
        switch obstacle {
        case .none: ["why": "not-pushed"]
        case .underWay: ["why": "under-way"]
        case .held: ["why": "held"]
        case .unanswered: ["why": "unanswered"]
        case .notReceived(let status):
            ["why": status == 0 ? "offline" : "stopped", "status": status == 0 ? .null : .number(status)]
        case .failing(let times, let works):
            ["why": "failing", "pushes": .number(times), "serverWorks": .boolean(works)]
        case .after(let number): ["why": "behind", "behind": .string("~\(number)")]
        case .waits(let conflict):
            [
                "why": .string(conflict.state.rawValue), "status": conflict.status.map { .number($0) } ?? .null,
                "code": .string(conflict.reason.rawValue), "message": .optional(conflict.message),
                "mayHaveBeenDone": .boolean(conflict.mayHaveBeenDone),
            ]
        }
    }
}
