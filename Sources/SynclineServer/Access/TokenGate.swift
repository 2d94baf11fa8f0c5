// Checks tokens with the keys of now. The keys of a file are read again when the file changes, at which it looks once a second
// at most; a file that can't be read, or holds none, leaves the keys as they were.

import Synchronization
import SynclineCore
import SynclineWire

/// What tells that a file is another one than before.
struct FileStamp: Hashable, Sendable {
    var node: UInt64
    var size: Int64
    /// Nanoseconds since 1970.
    var changed: Int64
}

/// How the gate sees files.
struct KeyFileDoor: Sendable {
    var stamp: @Sendable (String) -> FileStamp? = { SystemFiles.stamp($0) }
    var read: @Sendable (String) throws(StartFailure) -> [UInt8] = { path throws(StartFailure) in
        try SystemFiles.read(path)
    }
}

final class TokenGate: Sendable {
    private struct State: Sendable {
        var rules: TokenRules?
        var others: [TokenKey] = []
        var stamp: FileStamp?
        /// Milliseconds since 1970.
        var looked: Int64 = 0
    }

    /// Hears of keys that can't be read.
    private let listener = Mutex<@Sendable (String) -> Void>({ _ in })

    private let state: Mutex<State>
    private let door: KeyFileDoor
    private let passed = Atomic(0)

    init(_ rules: TokenRules?, _ door: KeyFileDoor = KeyFileDoor()) {
        self.door = door
        state = Mutex(State(rules: rules))
    }

    /// Has somebody hear of keys that can't be read.
    func tell(_ listener: @escaping @Sendable (String) -> Void) { self.listener.withLock { $0 = listener } }

    /// How many tokens were checked.
    var count: Int { passed.load(ordering: .relaxed) }

    /// Takes over rules, if their keys can be read; those of the file are read at once.
    func take(_ rules: TokenRules?) throws(StartFailure) {
        var new = State(rules: rules)
        if let path = rules?.file {
            new.stamp = door.stamp(path)
            new.others = try keys(of: path)
        }
        state.withLock { $0 = new }
    }

    /// Who a request with such headers comes from.
    func login(_ headers: [HTTPHeader], now: Int64) -> Login {
        let (rules, others) = state.withLock { state -> (TokenRules?, [TokenKey]) in
            look(&state, now)
            return (state.rules, state.others)
        }
        guard let rules, let token = Login.token(headers) else { return .none }
        passed.add(1, ordering: .relaxed)
        return rules.caller(token, now: now, others: others).map { .caller($0) } ?? .invalid
    }

    private func look(_ state: inout State, _ now: Int64) {
        guard let path = state.rules?.file, abs(now - state.looked) >= 1000 else { return }
        state.looked = now
        let stamp = door.stamp(path)
        if stamp == state.stamp { return }
        state.stamp = stamp
        do throws(StartFailure) {
            state.others = try keys(of: path)
        } catch {
            listener.withLock { $0 }("the keys stay as they were: \(error.text)")
        }
    }

    private func keys(of path: String) throws(StartFailure) -> [TokenKey] {
        let bytes = try door.read(path)
        do throws(StartFailure) {
            return try KeySet.keys(bytes)
        } catch {
            throw StartFailure("\(path) can't be used: \(error.message)", hint: error.hint)
        }
    }
}
