// Notifies observers of commits. An observer gets the newest state when it is ready for one; states that were replaced
// meanwhile are not kept for it. The last change is never missed, and the writer never waits for an observer.

import SynclineCore
import SynclineGround

final class ObserverList: Sendable {
    private struct Observer {
        /// The observed table; nil for all tables.
        var table: String?
        var continuation: AsyncStream<StateReader>.Continuation
    }

    private struct Content {
        var observers: [Int: Observer] = [:]
        /// Listeners to be told that the app changed something.
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        /// Streams with an element after each commit that changes rows of some tables; nil for every commit.
        var signals: [Int: (tables: Set<String>?, continuation: AsyncStream<Void>.Continuation)] = [:]
        /// The number of changes the app had made by the last commit.
        var made: UInt64 = 0
        var next = 0
        var isFinished = false
    }

    private let content = Mutex(Content())
    /// Live queries, which are told which rows changed.
    let lists = LiveLists()

    /// Adds a live query. The stream has an element when its result may have changed.
    func observe<Content: LiveContent>(
        _ content: sending Content, from current: @Sendable () -> StateReader
    ) -> (list: LiveList<Content>, signals: AsyncStream<Void>) {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (list, number) = follow(content, signal, from: current)
        signal.onTermination = { [lists] _ in lists.remove(number) }
        return (list, signals)
    }

    /// Adds a live query that wakes an observer. Returns it with its number, by which it is removed.
    func follow<Content: LiveContent>(
        _ followed: sending Content, _ signal: AsyncStream<Void>.Continuation, from current: () -> StateReader
    ) -> (list: LiveList<Content>, number: Int?) {
        let list = LiveList(followed, signal)
        // Under the lock that `tell` takes, so that no commit falls between the first state and the next.
        let number = content.withLock { $0.isFinished ? nil : lists.add(list, current: current) }
        if number == nil { list.finish() }
        return (list, number)
    }

    /// Returns the current state, then the newest state after changes to a table, or to any table.
    func observe(_ table: String?, from current: @Sendable () -> StateReader) -> AsyncStream<StateReader> {
        stream { content, number, continuation in
            content.observers[number] = Observer(table: table, continuation: continuation)
            // Read under the lock that `tell` takes, so that no commit falls between the first state and the next.
            continuation.yield(current())
        } remove: { content, number in
            content.observers[number] = nil
        }
    }

    /// Returns a stream with an element after the app changes rows; several changes may share one element.
    func changes() -> AsyncStream<Void> {
        stream { content, number, continuation in
            content.listeners[number] = continuation
        } remove: { content, number in
            content.listeners[number] = nil
        }
    }

    /// Returns a stream with an element after each commit that changes rows of some tables, or after every commit.
    /// Several commits may share one element.
    func signals(of tables: Set<String>?) -> AsyncStream<Void> {
        stream { content, number, continuation in
            content.signals[number] = (tables, continuation)
        } remove: { content, number in
            content.signals[number] = nil
        }
    }

    /// Returns a stream that holds the newest element and is removed when its reader ends; it is empty if the store was
    /// closed.
    private func stream<Element>(
        _ add: (inout Content, Int, AsyncStream<Element>.Continuation) -> Void,
        remove: @escaping @Sendable (inout Content, Int) -> Void
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let number: Int? = content.withLock { content in
            guard !content.isFinished else { return nil }
            content.next += 1
            add(&content, content.next, continuation)
            return content.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.content.withLock { remove(&$0, number) } }
        return stream
    }

    /// Tells the listeners that there is something to send although no row changed.
    func notifyOfDecision() {
        for listener in content.withLock({ Array($0.listeners.values) }) { listener.yield() }
    }

    /// Announces a finished commit; `publish` makes it visible to readers.
    func tell(_ commit: StoreCommit, publish: () -> Void) {
        content.withLock { content in
            publish()
            if commit.totals.made != content.made {
                content.made = commit.totals.made
                for listener in content.listeners.values { listener.yield() }
            }
            let isObserved = !content.signals.isEmpty || !content.observers.isEmpty
            let touched = isObserved ? Set(commit.states.flatMap(\.touched)) : []
            for signal in content.signals.values where signal.tables.map({ !$0.isDisjoint(with: touched) }) ?? true {
                signal.continuation.yield()
            }
            guard let newest = commit.states.last?.reader else { return }
            lists.tell(commit.changedRows, newest)
            for observer in content.observers.values
            where observer.table.map({ touched.contains($0) }) ?? !touched.isEmpty {
                observer.continuation.yield(newest)
            }
        }
    }

    func finish() {
        let all = content.withLock { content in
            content.isFinished = true
            defer {
                content.observers = [:]
                content.listeners = [:]
                content.signals = [:]
            }
            let signals = content.signals.values.map(\.continuation)
            return (Array(content.observers.values), Array(content.listeners.values) + signals)
        }
        for observer in all.0 { observer.continuation.finish() }
        for listener in all.1 { listener.finish() }
        lists.finish()
    }
}
