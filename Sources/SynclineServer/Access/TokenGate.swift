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
    /// What tokens are checked with.
    private final class Keys: Sendable {
        let rules: TokenRules?
        /// The keys of the file.
        let others: [TokenKey]

        init(_ rules: TokenRules?, _ others: [TokenKey] = []) {
            self.rules = rules
            self.others = others
        }
    }

    /// Hears of keys that can't be read.
    private let listener = Mutex<@Sendable (String) -> Void>({ _ in })

    private let keys: SharedReading<Keys>
    /// The file as it was read last.
    private let stamp = Mutex<FileStamp?>(nil)
    /// When somebody looked at it, in milliseconds since 1970.
    private let looked = Atomic<Int64>(0)
    private let door: KeyFileDoor
    private let passed = Atomic(0)

    init(_ rules: TokenRules?, _ door: KeyFileDoor = KeyFileDoor()) {
        self.door = door
        keys = SharedReading(Keys(rules))
    }

    /// Has somebody hear of keys that can't be read.
    func tell(_ listener: @escaping @Sendable (String) -> Void) { self.listener.withLock { $0 = listener } }

    /// How many tokens were checked.
    var count: Int { passed.load(ordering: .relaxed) }

    /// Takes over rules, if their keys can be read; those of the file are read at once.
    func take(_ rules: TokenRules?) throws(StartFailure) {
        try stamp.withLock { stamp throws(StartFailure) in
            let new = rules?.file.flatMap { door.stamp($0) }
            let others = try rules?.file.map { path throws(StartFailure) in try keys(of: path) } ?? []
            stamp = new
            keys.change { $0 = Keys(rules, others) }
        }
    }

    /// Who a request with such headers comes from.
    func login(_ headers: [HTTPHeader], now: Int64) -> Login {
        var known = keys.value
        if let path = known.rules?.file, look(path, now) { known = keys.value }
        guard let rules = known.rules, let token = Login.token(headers) else { return .none }
        passed.add(1, ordering: .relaxed)
        return rules.caller(token, now: now, others: known.others).map { .caller($0) } ?? .invalid
    }

    /// Whether the keys of the file may be others now. One thread looks, and nobody waits for it.
    private func look(_ path: String, _ now: Int64) -> Bool {
        let before = looked.load(ordering: .relaxed)
        guard abs(now - before) >= 1000,
            looked.compareExchange(expected: before, desired: now, ordering: .relaxed).exchanged
        else { return false }
        return stamp.withLock { stamp in
            let new = door.stamp(path)
            if stamp == new { return false }
            stamp = new
            do throws(StartFailure) {
                let others = try keys(of: path)
                keys.change { $0 = Keys($0.rules, others) }
                return true
            } catch {
                listener.withLock { $0 }("the keys stay as they were: \(error.text)")
                return false
            }
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
