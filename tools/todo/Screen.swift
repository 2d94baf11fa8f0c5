// The app's screen, and the commands that its user types.

import Foundation
import Synchronization
import Syncline

final class Screen: Sendable {
    private let list: TodoList
    /// The items as they were last shown, so that a number means what the user saw.
    private let shown = Mutex<[TodoItem]>([])
    private let drawing = Mutex<Task<Void, any Error>?>(nil)

    init(_ list: TodoList) throws {
        self.list = list
        let changes = try list.everyChange()
        let task = Task { [self] in
            for try await items in changes { draw(items) }
        }
        drawing.withLock { $0 = task }
    }

    /// Lines as they are typed, read on a thread that may wait for them.
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }.start()
        }
    }

    private func show(_ line: some Any) {
        // Not `print`, which keeps what goes to a pipe for later.
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    private func draw(_ items: [TodoItem]) {
        shown.withLock { $0 = items }
        show(items.isEmpty ? "Nothing to do." : "To do:")
        for (index, item) in items.enumerated() { show("  \(index + 1). [\(item.complete ? "x" : " ")] \(item.text)") }
    }

    /// Does what a line says.
    func run(_ line: String) async {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        do {
            switch words.first {
            case nil: break
            case "add": try await list.add(rest)
            case "done": try await list.setComplete(try item(rest))
            case "remove": try await list.items.delete(try item(rest))
            case "rename":
                let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
                try await list.rename(try item(parts.first ?? ""), to: parts.last ?? "")
            case "undo": try await list.database.undo()
            case "refresh": try await refresh()
            case "mine": try await decide(.keepMine)
            case "theirs": try await decide(.takeServer)
            case "both": try await decide(.merge)
            default: show("add TEXT · done N · rename N TEXT · remove N · undo · refresh · quit")
            }
        } catch {
            show(error)
        }
    }

    private func item(_ number: String) throws -> TodoItem {
        let items = shown.withLock { $0 }
        guard let number = Int(number), items.indices.contains(number - 1) else { throw Mistake.noSuchNumber }
        return items[number - 1]
    }

    private func refresh() async throws {
        let reason = try await list.refresh { [self] progress in
            switch progress {
            case .pushing(let done, let total): if done > 0 { show("sent \(done) of \(total)") }
            case .pulling(_, let received, _): show("received \(received)")
            }
        }
        if let reason { show("Not refreshed: \(reason.message). Your changes are kept.") }
        try await showConflicts()
    }

    private func showConflicts() async throws {
        for conflict in try await list.items.conflicts() {
            show("You have:       \(conflict.mine?.text ?? "deleted it")")
            show("The server has: \(conflict.server?.text ?? "deleted it")")
            show("Type mine, theirs or both, then refresh.")
        }
    }

    /// Decides the first conflict.
    private func decide(_ decision: ConflictDecision) async throws {
        guard let conflict = try await list.items.conflicts().first else { throw Mistake.noConflict }
        try await list.items.resolve(conflict, decision)
    }

    func close() async {
        drawing.withLock { $0?.cancel() }
        do { try await list.database.close() } catch { show(error) }
    }
}

/// What a user may get wrong.
enum Mistake: Error, CustomStringConvertible {
    case noSuchNumber, noConflict

    var description: String {
        switch self {
        case .noSuchNumber: "There is no item with that number."
        case .noConflict: "There is no conflict to resolve."
        }
    }
}
