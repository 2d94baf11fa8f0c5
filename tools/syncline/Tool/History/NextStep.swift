// The answer of `why`, in sentences.

import SegmentLog
import SynclineCore
import SynclineGround

/// Something to do about a row.
struct NextStep {
    var command: String
    var effect: String
}

extension WhyReport {
    private var address: String { "\(row.table)/\(row.id)" }
    private var shellAddress: String { shellWord(address) }

    var lines: [String] {
        sentences.map { escaped($0.text) }
            + next.map { style.paint("  " + escaped($0.command), .heading) + "  " + escaped($0.effect) }
    }

    var sentences: [Sentence] {
        var all = [visibility]
        all += fields.map { sentence($0) }
        if let field, fields.isEmpty, explanation.visibility == .visible {
            let names = explanation.fields.map(\.origin.field)
            let meant = Suggestion.nearest(to: field, in: names).map { " Did you mean \($0)?" } ?? ""
            let why = declaring.map { " Schema \($0) declares it, but no migration, pull or change gave it a value." }
            all.append("It has no field \(field).\(why ?? meant)")
        }
        for waiting in explanation.operations { all += sentences(waiting) }
        return all
    }

    // MARK: Seen or not

    private var visibility: Sentence {
        switch explanation.visibility {
        case .visible:
            let count = explanation.operations.count
            let waits = count == 1 ? "1 operation on it is not pushed" : "\(count) operations on it are not pushed"
            return "\(address) exists; " + "\(count == 0 ? "it has no pending changes." : waits + ".")"
        case .hidden(let absence, let gone): return "\(address) is not visible: \(sentence(absence, gone))"
        case .unknown:
            let meant = near.first.map { " Did you mean \($0)?" } ?? ""
            return "The history has no row \(address). \(unknownReason)\(meant)"
        }
    }

    private var unknownReason: String {
        queries.isEmpty
            ? "It was never inserted here, and no pull of \(row.table) with a query id has run."
            : "It was never inserted here, and no pull received it (queries: \(queries.joined(separator: ", ")))."
    }

    private func sentence(_ absence: RowAbsence, _ gone: Disappearance) -> Sentence {
        let first = moment(gone.first)
        let latest = moment(gone.latest)
        switch absence {
        case .deletePending: return "this app deleted it \(first), and the server does not know yet."
        case .deleteConfirmed: return "this app deleted it \(first), and the server confirmed the delete (\(latest))."
        case .cameToNothing:
            return "this app deleted it \(first) before it was ever sent, so nothing of it is left to push."
        case .goneInPull:
            return "\(pull(gone.first.provenance)) found \(first) that it was deleted on the server."
        case .left:
            return "\(pull(gone.first.provenance)) found \(first) that it no longer matches the query."
        case .rightLost:
            return "\(pull(gone.first.provenance)) found \(first) that the right to it was lost."
        case .notFound:
            return "the server was asked for all rows \(first), and it was not among them."
        case .goneInAnswer: return "\(by(gone.first)) \(first), and does not have the row."
        case .decided: return "a decision removed it (\(latest))."
        case .purged: return "it was purged here \(latest); the server was not told."
        case .undone: return "the transaction that inserted it was undone \(latest)."
        case .dropped: return "the operation that inserted it was dropped \(latest)."
        case .migrated: return "the migration of the schema removed it \(first)."
        case .goneBefore: return "it was removed before the retained history begins."
        }
    }

    // MARK: Values

    private func sentence(_ field: RowExplanation.Field) -> Sentence {
        let origin = field.origin
        let occasion = Occasion(event: origin.event.rawValue, time: origin.time, provenance: origin.provenance)
        let value = style.cut(JSONValue(origin.value, redacts: redacts).text, to: 60)
        let standing =
            switch field.standing {
            case .confirmed: ""
            case .unconfirmed: " The server has not confirmed it."
            case .local: " It never leaves this device."
            }
        return "\(origin.field) is \(value): \(by(occasion)) \(moment(occasion)).\(standing)"
    }

    private func by(_ occasion: Occasion) -> Sentence {
        switch occasion.provenance {
        case .transaction: "this app wrote it"
        case .pull: "\(pull(occasion.provenance)) received it"
        case .push(_, let status): "the server answered \(status) to a push"
        case .resolution(let choice, let policy):
            "a conflict was decided (\(choice), \(policy.map { "by the policy \($0)" } ?? "by the app"))"
        case .undo(let event): "it is visible again since \(event: event.rawValue) was undone"
        case .purge: "a purge kept it"
        case .discard: "it is visible again since the pending changes were dropped"
        case .migration(let version): "the migration to schema \(version) set it"
        case .beginning, .other: "it was set"
        }
    }

    private func pull(_ provenance: Provenance) -> String {
        guard case .pull(let queryID?, _) = provenance else { return "a pull" }
        return "a pull (\(queryID))"
    }

    private func moment(_ occasion: Occasion) -> Sentence {
        if occasion.provenance == .beginning { return "before the retained history begins" }
        let time = WallTime(rawValue: occasion.time)
        return "at \(event: occasion.event), \(time, as: style.isForPeople ? time.humanText : time.text)"
    }

    // MARK: Operations

    private func sentences(_ waiting: RowExplanation.Waiting) -> [Sentence] {
        let operation = waiting.operation
        let collapsed = made.first { $0.operation.position == operation.position }
        var head = "~\(waiting.number), \(operation.kind == .delete ? "a" : "an") \(operation.kind)"
        if let fields = collapsed?.fields, !fields.isEmpty { head += " of \(fields.joined(separator: ", "))" }
        var all: [Sentence] = ["\(head), is not pushed: \(sentence(waiting.obstacle))"]
        if let changes = collapsed?.changes, changes.count > 1 {
            let list = changes.map { change -> Sentence in "\(event: change.position.event) (\(change.rule))" }
            all.append("It is made of \(changes.count) changes: \(list.joined(separator: ", ")).")
        }
        return all
    }

    private func sentence(_ obstacle: RowExplanation.Obstacle) -> Sentence {
        switch obstacle {
        case .none: return "no push has run since it was made."
        case .underWay: return "it is being sent now."
        case .unanswered:
            let sent = explanation.attempt.map { attempt -> Sentence in " at \(event: attempt.sent)" } ?? ""
            return "it was sent\(sent), and no answer was recorded. The server may have it."
        case .notReceived(0): return "the last push could not reach the server."
        case .notReceived(let status): return "the server answered \(status), and the push stopped."
        case .failing(let times, let works):
            let pushes = times == 1 ? "the last push" : "\(times) pushes in a row"
            let others = works ? ", while it answered other requests" : ""
            return "the server answered 500 to every attempt of \(pushes)\(others)."
        case .held: return "it is held until the row is released."
        case .after(let number): return "it waits for ~\(number), which is on the same row."
        case .waits(let conflict):
            guard let lost = explanation.lostRight else { return "\(conflict.sentence)" }
            return "it is refused, because the right to the row was lost at \(event: lost)."
        }
    }

    // MARK: What to do

    var next: [NextStep] {
        var steps: [NextStep] = []
        for waiting in explanation.operations { steps += self.steps(waiting) }
        switch explanation.visibility {
        case .visible: break
        case .unknown:
            if near.isEmpty {
                steps.append(step("pull \(shellWord(row.table))", "asks the server for the table's rows"))
            } else {
                for address in near where address.contains("/") {
                    steps.append(step("why \(shellWord(address))", "explains that row"))
                }
            }
        case .hidden(let absence, _): steps += self.steps(absence)
        }
        return steps
    }

    private func step(_ command: String, _ effect: String) -> NextStep {
        NextStep(command: "syncline " + command, effect: effect)
    }

    private func steps(_ waiting: RowExplanation.Waiting) -> [NextStep] {
        switch waiting.obstacle {
        case .underWay, .after: return []
        case .held: return [step("release \(shellAddress)", "lets the next push send it")]
        case .none, .unanswered, .notReceived:
            let push = step("push", waiting.obstacle == .none ? "sends it" : "sends it again, as it was")
            let backend = step("config backend URL", "says where the server is; the store does not know one")
            return hasBackend ? [push] : [backend, push]
        case .failing:
            return [
                step("push", "tries it again"),
                step("drop --force \(shellAddress)", "gives it up, so that the rest is pushed"),
            ]
        case .waits(let conflict) where conflict.reason == .rightLost:
            return [
                step("resolve \(shellAddress) --keep-mine", "tries it again"),
                step("resolve \(shellAddress) --take-server", "gives it up"),
            ]
        case .waits(let conflict) where conflict.state == .parked:
            return [
                step("resolve \(shellAddress) --keep-mine", "tries it again"),
                step("resolve \(shellAddress) --row JSON", "sends other values"),
                step("drop \(shellAddress)", "gives it up"),
            ]
        case .waits(let conflict):
            let merge = step("resolve \(shellAddress) --merge", "combines the changes of both sides")
            let canMerge = (try? conflict.resolution(.merge, hasBase: true)) != nil
            return (canMerge ? [merge] : []) + [
                step("resolve \(shellAddress) --keep-mine", "sends yours again"),
                step("resolve \(shellAddress) --take-server", "drops yours"),
            ]
        }
    }

    private func steps(_ absence: RowAbsence) -> [NextStep] {
        switch absence {
        case .deletePending: [step("drop \(shellAddress)", "keeps the row: the delete is not sent")]
        case .purged, .dropped, .decided, .goneBefore:
            [step("pull \(shellWord(row.table))", "fetches the row if the server has it")]
        case .goneInPull, .left, .rightLost, .notFound:
            [step("diff server --table \(shellWord(row.table))", "shows what the server has")]
        case .deleteConfirmed, .cameToNothing, .goneInAnswer, .undone, .migrated: []
        }
    }
}

extension Conflict {
    /// Why it awaits a decision.
    var sentence: String {
        let status = self.status.map { "the server answered \($0)" } ?? "a pull found it"
        let words = message.map { ": \"\($0)\"" } ?? ""
        let what: String
        switch state {
        case _ where reason == .rightLost: what = "it is refused, because the right to the row was lost"
        case .parked: what = "it is parked, because the server refused it"
        case .conflict where server == nil:
            what = "it is in conflict, because the row is gone from the server"
        case .conflict: what = "it is in conflict, because the server's row was changed meanwhile"
        }
        let twice = mayHaveBeenDone ? " An earlier attempt, whose answer was lost, may have succeeded." : ""
        return "\(what) (\(status)\(words)).\(twice)"
    }
}

/// A word as a shell takes it.
func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-@:+".utf8.contains(byte)
        }
    }
    if isPlain, !text.isEmpty { return text }
    return text.quoted(by: "'", escaping: "'\\''")
}
