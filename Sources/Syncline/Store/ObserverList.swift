// The observers of a store. Each waits for a signal and reads the newest state when it is ready for one; states that were
// replaced meanwhile are not kept for it. The last change is never missed, and the writer never waits for an observer.
// Live content is told on a queue which rows changed, and its observer is woken only if that changes the content.

import Dispatch
import SynclineCore
import SynclineGround

final class ObserverList: Sendable {
    /// What an observer waits for.
    enum Subject {
        case everyCommit
        /// Commits that change rows of some tables, by the UTF-8 of their names; nil for all tables.
        case rows(of: [[UInt8]]?)
        /// The app changed something; several changes may share one signal.
        case changes
        /// The store is erased, not only closed.
        case erasure
    }

    private struct Observer {
        let subject: Subject
        let signal: AsyncStream<Void>.Continuation
    }

    /// Live content, which decides whether a commit is of interest, and the signal of its observer.
    private struct Follower {
        let list: any LiveFollower
        let signal: AsyncStream<Void>.Continuation
    }

    private struct Content {
        var observers: [Int: Observer] = [:]
        /// Not among the observers, so that a commit does not look at each of them.
        var followers: [Int: Follower] = [:]
        var next = 0
        /// The number of changes the app had made by the last commit.
        var made: UInt64 = 0
        var isFinished = false
        var isErased = false
        var noted = NotedChanges()

        /// Removes an observer and returns it, because its last use may end much, which must not happen under the lock.
        mutating func remove(_ number: Int) -> (Observer?, Follower?) {
            defer { if followers.isEmpty { noted.end() } }
            return (observers.removeValue(forKey: number), followers.removeValue(forKey: number))
        }

        /// Removes the observers of some subjects and returns their signals.
        mutating func removeObservers(where isMeant: (Subject) -> Bool) -> [AsyncStream<Void>.Continuation] {
            let ended = observers.filter { isMeant($0.value.subject) }
            for number in ended.keys { observers[number] = nil }
            return ended.values.map(\.signal)
        }
    }

    private let content = Mutex(Content())
    private let queue = DispatchQueue(label: "Syncline.ObserverList")

    /// For tests: returns when all noted changes have been passed on.
    func wait() { queue.sync {} }

    /// Whether an observer waits for changes of rows.
    var followsRows: Bool {
        content.withLock { content in
            !content.followers.isEmpty
                || content.observers.values.contains { if case .rows = $0.subject { true } else { false } }
        }
    }

    // MARK: Observers

    /// Returns a stream with an element after each commit of a subject; several commits may share one. With `beginsNow`
    /// it has one already.
    func signals(of subject: Subject, beginsNow: Bool = false) -> AsyncStream<Void> {
        stream { content, signal in
            if beginsNow { signal.yield() }
            if subject.isErasure ? content.isErased : content.isFinished {
                if subject.isErasure { signal.yield() }
                return nil
            }
            content.observers[content.next] = Observer(subject: subject, signal: signal)
            return content.next
        }
    }

    /// Returns a stream with an element now, and after each commit that changes live content.
    /// - Parameter current: The newest state; nil if the store is closed.
    func signals(for list: any LiveFollower, from current: () -> StateReader?) -> AsyncStream<Void> {
        stream { content, signal in
            signal.yield()
            if content.isFinished { return nil }
            if content.followers.isEmpty {
                // Changes are not noted while there is no live content, not even while those for ended one are passed on.
                guard let reader = current() else { return nil }
                content.noted.begin(at: reader)
            }
            content.followers[content.next] = Follower(list: list, signal: signal)
            return content.next
        }
    }

    /// - Parameter add: Adds an observer with the next number, and returns the number; nil if what it waits for has ended.
    ///   It is called under the lock that `tell` takes, so that no commit falls between the first state and the next.
    private func stream(_ add: (inout Content, AsyncStream<Void>.Continuation) -> Int?) -> AsyncStream<Void> {
        let (stream, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = content.withLock { content in
            content.next += 1
            return add(&content, signal)
        }
        if let number {
            signal.onTermination = { [weak self] _ in _ = self?.content.withLock { $0.remove(number) } }
        } else {
            signal.finish()
        }
        return stream
    }

    /// Returns the newest state, and the version of tables there; nil if changes are still being passed on.
    func state(of tables: [[UInt8]]?) -> (reader: StateReader, version: UInt64)? {
        content.withLock { $0.noted.state(of: tables) }
    }

    /// Ends all streams but those that wait for an erasure.
    func finish() {
        let ended = content.withLock { content in
            content.isFinished = true
            defer {
                content.followers = [:]
                content.noted.end()
            }
            // The lists are returned, too: the last use of one may end much, which must not happen under the lock.
            return (signals: content.removeObservers { !$0.isErasure }, followers: Array(content.followers.values))
        }
        for signal in ended.signals + ended.followers.map(\.signal) { signal.finish() }
    }

    /// Tells that the store is erased.
    func erase() {
        let ended = content.withLock { content in
            content.isErased = true
            return content.removeObservers(where: \.isErasure)
        }
        for signal in ended {
            signal.yield()
            signal.finish()
        }
    }

    // MARK: Commits

    /// Tells automatic sync that there is something to send although no row changed.
    func notifyOfDecision() {
        signal { if case .changes = $0 { true } else { false } }
    }

    /// Lets the observers of every commit look again, because history was removed.
    func tellOfRemoval() {
        signal { if case .everyCommit = $0 { true } else { false } }
    }

    private func signal(_ isMeant: (Subject) -> Bool) {
        content.withLock { content in
            for observer in content.observers.values where isMeant(observer.subject) { observer.signal.yield() }
        }
    }

    /// Lets all observers of live content look again, because something changed that is not in the state.
    func tellFollowers() {
        content.withLock { content in
            for follower in content.followers.values { follower.signal.yield() }
        }
    }

    /// Announces a finished commit; `publish` makes it visible to readers.
    func tell(_ commit: StoreCommit, publish: () -> Void) {
        let mustPassOn = content.withLock { content in
            publish()
            let hasChanges = commit.totals.made != content.made
            content.made = commit.totals.made
            for observer in content.observers.values where observer.subject.includes(commit, hasChanges) {
                observer.signal.yield()
            }
            return !content.followers.isEmpty && content.noted.add(commit.changedRows, commit.reader)
        }
        if mustPassOn { queue.async { self.passOn() } }
    }

    private func passOn() {
        while let (batch, followers) = takeBatch() {
            for (follower, version) in followers {
                guard let update = batch.update(of: follower.list.tables, from: version) else { continue }
                if follower.list.update(update) { follower.signal.yield() }
            }
        }
    }

    /// Returns what to pass on, and all live content, with the version of its tables before; nil if nothing is left.
    private func takeBatch() -> (NotedChanges.Batch, [(Follower, version: UInt64)])? {
        content.withLock { content in
            let followers = content.followers.values.map { ($0, version: content.noted.version(of: $0.list.tables)) }
            if let batch = content.noted.take() { return (batch, followers) }
            if followers.isEmpty { content.noted.end() }
            return nil
        }
    }
}

extension ObserverList.Subject {
    fileprivate var isErasure: Bool { if case .erasure = self { true } else { false } }

    /// Whether a commit is of this subject.
    fileprivate func includes(_ commit: StoreCommit, _ hasChanges: Bool) -> Bool {
        switch self {
        case .everyCommit: true
        case .rows(let tables): commit.changesRows(of: tables)
        case .changes: hasChanges
        case .erasure: false
        }
    }
}
