// The facts by which the user decides a conflict: a pure function of the conflict.

import Syncline

struct ConflictCard: Identifiable, Hashable, Sendable {
    /// A column in which the two sides differ.
    struct Line: Hashable, Sendable {
        var column: String
        var mine: String
        var server: String
    }

    /// A button.
    struct Choice: Identifiable, Hashable, Sendable {
        var title: String
        var decision: ConflictDecision

        var id: String { title }
    }

    let conflict: Conflict
    var id: String { "\(conflict.table)/\(conflict.id)" }

    /// What happened.
    var title: String {
        if conflict.state == .parked { return conflict.message ?? "The server refused the change" }
        if conflict.server == nil { return "Deleted by someone else" }
        return conflict.mine == nil ? "Deleted here, and changed by someone else" : "Changed by someone else, too"
    }

    /// The values of both sides.
    var lines: [Line] {
        guard let mine = conflict.mine, let server = conflict.server else { return [] }
        return mine.members.compactMap { member in
            let theirs = server[member.name] ?? .null
            if Self.ofServer.contains(member.name) || theirs.means(member.value) { return nil }
            return Line(column: member.name, mine: Self.text(member.value), server: Self.text(theirs))
        }
    }

    /// What the user can do.
    var choices: [Choice] {
        if conflict.state == .parked {
            return [Choice(title: "Try again", decision: .keepMine), Choice(title: "Undo", decision: .takeServer)]
        }
        if conflict.server == nil {
            return [
                Choice(title: "Restore with my values", decision: .keepMine),
                Choice(title: "Delete here, too", decision: .takeServer),
            ]
        }
        let mine = conflict.mine == nil ? "Delete it" : "Keep mine"
        return [Choice(title: mine, decision: .keepMine), Choice(title: "Take theirs", decision: .takeServer)]
    }

    private static let ofServer: Set = ["createdAt", "updatedAt", "version", "deleted"]

    private static func text(_ value: Value) -> String {
        if case .string(let text) = value { text } else { "\(value)" }
    }
}
