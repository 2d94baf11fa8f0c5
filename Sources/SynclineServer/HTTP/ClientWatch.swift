// Finds clients that have gone while their requests are worked on: libmicrohttpd does not look at a connection that is
// suspended. A client that has closed its connection and one that has only finished sending look the same, so both are given
// some time; where others wait for a worker, none.

import Dispatch
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

final class ClientWatch: Sendable {
    /// What a socket shows.
    enum Sight: Hashable, Sendable {
        case open, halfClosed, gone
    }

    private struct Watched: Sendable {
        let descriptor: Int32
        let limit: WorkLimit
        /// For how many rounds it has been half closed.
        var rounds = 0
    }

    private struct State: Sendable {
        var watched: [ObjectIdentifier: Watched] = [:]
        var isLooking = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "syncline.clients")
    /// Whether others wait for a worker; asked once a round.
    private let othersWait: @Sendable () -> Bool
    private let look: @Sendable ([Int32]) -> [Sight]
    private static let interval = DispatchTimeInterval.milliseconds(100)
    /// For how many rounds a client may be half closed: two seconds.
    private static let patience = 20

    init(
        othersWait: @escaping @Sendable () -> Bool,
        look: @escaping @Sendable ([Int32]) -> [Sight] = { ClientWatch.look($0) }
    ) {
        self.othersWait = othersWait
        self.look = look
    }

    /// Cancels the work when the client is gone. The socket must stay open until it is forgotten.
    func watch(_ descriptor: Int32, _ limit: WorkLimit) {
        let isFirst = state.withLock { state in
            state.watched[ObjectIdentifier(limit)] = Watched(descriptor: descriptor, limit: limit)
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if isFirst { goOn() }
    }

    /// Cancels all work that may be cancelled.
    func cancelAll() {
        state.withLock { state in for watched in state.watched.values { watched.limit.cancel() } }
    }

    func forget(_ limit: WorkLimit) {
        state.withLock { $0.watched[ObjectIdentifier(limit)] = nil }
    }

    private func goOn() {
        queue.asyncAfter(deadline: .now() + ClientWatch.interval) { [weak self] in
            guard let self else { return }
            round()
            let isOver = state.withLock { state in
                state.isLooking = !state.watched.isEmpty
                return !state.isLooking
            }
            if !isOver { goOn() }
        }
    }

    /// Looks once at every client. Under the lock, so that no socket is closed, and its number another's, meanwhile.
    func round() {
        let patience = othersWait() ? 0 : ClientWatch.patience
        state.withLock { state in
            let all = Array(state.watched)
            for ((key, watched), sight) in zip(all, look(all.map(\.value.descriptor))) where sight != .open {
                state.watched[key]?.rounds += 1
                if sight == .gone || watched.rounds >= patience { watched.limit.cancel() }
            }
        }
    }

    private static func look(_ descriptors: [Int32]) -> [Sight] {
        var polls = descriptors.map { pollfd(fd: $0, events: hangUp, revents: 0) }
        guard poll(&polls, nfds_t(polls.count), 0) > 0 else { return polls.map { _ in .open } }
        return polls.map { poll in
            let events = Int32(poll.revents)
            return events & (POLLHUP | POLLERR | POLLNVAL) != 0 ? .gone : events != 0 ? .halfClosed : .open
        }
    }

    #if canImport(Darwin)
        private static let hangUp: Int16 = 0
    #else
        /// POLLRDHUP, which Swift does not see.
        private static let hangUp: Int16 = 0x2000
    #endif
}
