// What is known of the changes of several processes, each of which counts in a row of its own.

import SynclineGround

final class Ledger: Sendable {
    private struct Content {
        var tried: [String: Int64] = [:]
        var stored: [String: Int64] = [:]
        var failures: [String] = []
        var edits: [String: SharedEdit] = [:]
        var version: UInt32 = 1
    }

    private let content = Mutex(Content())

    /// The last number that each process knows to be stored.
    var stored: [String: Int64] { content.withLock { $0.stored } }
    /// The last number that each process tried to store.
    var tried: [String: Int64] { content.withLock { $0.tried } }
    var failures: [String] { content.withLock { $0.failures } }

    /// The next number of a process.
    func next(_ name: String) -> Int64 {
        content.withLock { content in
            content.tried[name, default: 0] += 1
            return content.tried[name, default: 0]
        }
    }

    func noteStored(_ name: String, _ number: Int64) { content.withLock { $0.stored[name] = number } }

    /// The edits of rows in common that processes know to be stored, by their marks.
    var edits: [String: SharedEdit] { content.withLock { $0.edits } }

    /// The version of the app's schema.
    var version: UInt32 { content.withLock { $0.version } }

    func raiseVersion() { content.withLock { $0.version += 1 } }

    func note(_ edit: SharedEdit) { content.withLock { $0.edits[edit.mark] = edit } }

    func fail(_ text: String) { content.withLock { $0.failures.append(text) } }
}
