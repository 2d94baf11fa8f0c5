// Notifies observers of commits. An observer reads the newest state when it is ready for one; states that were replaced
// meanwhile are not kept for it. The last change is never missed, and the writer never waits for an observer.

import SynclineCore
import SynclineGround

final class ObserverList: Sendable {
    fileprivate enum Subject {
        case everyCommit
        /// Commits that change rows of some tables; nil for all tables.
        case rows(of: Set<String>?)
        /// The app changed something.
        case changes
        case erasure
    }

    private struct Content {
        var observers: [Int: (subject: Subject, signal: AsyncStream<Void>.Continuation)] = [:]
        /// The number of changes the app had made by the last commit.
        var made: UInt64 = 0
        var next = 0
        var isFinished = false
        var isErased = false

        func tell(of isMeant: (Subject) -> Bool) {
            for observer in observers.values where isMeant(observer.subject) { observer.signal.yield() }
        }

        /// Removes the observers of some subjects and returns their streams.
        mutating func take(_ isMeant: (Subject) -> Bool) -> [AsyncStream<Void>.Continuation] {
            let ended = observers.filter { isMeant($0.value.subject) }
            for number in ended.keys { observers[number] = nil }
            return ended.values.map(\.signal)
        }
    }

    private let content = Mutex(Content())
    /// Live queries, which are told which rows changed.
    let lists = LiveLists()

    /// Adds a live query. The stream has an element when its result may have changed.
    func observe<Content: LiveContent>(
        _ content: sending Content, from current: @Sendable () -> StateReader?
    ) -> (list: LiveList<Content>, signals: AsyncStream<Void>) {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (list, number) = follow(content, signal, from: current)
        signal.onTermination = { [lists] _ in lists.remove(number) }
        return (list, signals)
    }

    /// Adds a live query that wakes an observer. Returns it with its number, by which it is removed.
    func follow<Content: LiveContent>(
        _ followed: sending Content, _ signal: AsyncStream<Void>.Continuation, from current: () -> StateReader?
    ) -> (list: LiveList<Content>, number: Int?) {
        let list = LiveList(followed, signal)
        // Under the lock that `tell` takes, so that no commit falls between the first state and the next.
        let number = content.withLock { content in
            content.isFinished ? nil : current().map { lists.add(list, current: $0) }
        }
        if number == nil { list.finish() }
        return (list, number)
    }

    /// Returns a stream with an element now and after each commit that changes rows of a table, or of any table.
    func rows(of table: String?) -> AsyncStream<Void> { stream(.rows(of: table.map { [$0] }), beginsNow: true) }

    /// Returns a stream with an element after the app changes rows; several changes may share one element.
    func changes() -> AsyncStream<Void> { stream(.changes) }

    /// Returns a stream with an element after each commit that changes rows of some tables, or after every commit.
    /// Several commits may share one element.
    func signals(of tables: Set<String>?) -> AsyncStream<Void> {
        stream(tables.map { .rows(of: $0) } ?? .everyCommit)
    }

    /// Returns a stream with one element, when the store is erased. It does not end when the store is only closed.
    func erasure() -> AsyncStream<Void> { stream(.erasure) }

    /// Returns a stream that is removed when its reader ends; it is empty if what it tells of has ended.
    private func stream(_ subject: Subject, beginsNow: Bool = false) -> AsyncStream<Void> {
        let (stream, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number: Int? = content.withLock { content in
            guard !(subject.isErasure ? content.isErased : content.isFinished) else { return nil }
            content.next += 1
            content.observers[content.next] = (subject, signal)
            if beginsNow { signal.yield() }
            return content.next
        }
        guard let number else {
            if subject.isErasure { signal.yield() }
            signal.finish()
            return stream
        }
        signal.onTermination = { [weak self] _ in self?.content.withLock { $0.observers[number] = nil } }
        return stream
    }

    /// Tells the listeners that there is something to send although no row changed.
    func notifyOfDecision() { content.withLock { $0.tell(of: \.isOfChanges) } }

    /// Announces a finished commit; `publish` makes it visible to readers.
    func tell(_ commit: StoreCommit, publish: () -> Void) {
        content.withLock { content in
            publish()
            let isChanged = commit.totals.made != content.made
            content.made = commit.totals.made
            let touched = content.observers.isEmpty ? [] : Set(commit.states.flatMap(\.touched))
            content.tell { $0.includes(touched, isChanged: isChanged) }
            if let newest = commit.states.last?.reader { lists.tell(commit.changedRows, newest) }
        }
    }

    /// Ends all streams but those that wait for an erasure.
    func finish() {
        let ended = content.withLock { content in
            content.isFinished = true
            return content.take { !$0.isErasure }
        }
        for signal in ended { signal.finish() }
        lists.finish()
    }

    /// Tells that the store is erased.
    func erase() {
        let ended = content.withLock { content in
            content.isErased = true
            return content.take(\.isErasure)
        }
        for signal in ended {
            signal.yield()
            signal.finish()
        }
    }
}

extension ObserverList.Subject {
    fileprivate var isErasure: Bool { if case .erasure = self { true } else { false } }
    fileprivate var isOfChanges: Bool { if case .changes = self { true } else { false } }

    /// Whether a commit that changes rows of these tables is of this subject.
    fileprivate func includes(_ touched: Set<String>, isChanged: Bool) -> Bool {
        switch self {
        case .everyCommit: true
        case .rows(let tables): tables.map { !$0.isDisjoint(with: touched) } ?? !touched.isEmpty
        case .changes: isChanged
        case .erasure: false
        }
    }
}
