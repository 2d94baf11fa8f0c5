// Finds clients that have disconnected while their requests are processed, because libmicrohttpd does not check a
// suspended connection. A client that has closed its connection and one that has only finished sending look the same,
// so both are given some time; if others wait for a worker, they are given none.

import CLibrary
import Dispatch
import SynclineGround
import SynclineTables

final class ClientWatch: Sendable {
    /// The observed state of a socket.
    enum Sight: Hashable, Sendable {
        case open, halfClosed, gone
    }

    private struct Watched: Sendable {
        let descriptor: Int32
        let limit: WorkLimit
        /// The number of rounds for which it has been half closed.
        var rounds = 0
    }

    private struct State: Sendable {
        var watched: [ObjectIdentifier: Watched] = [:]
        var isLooking = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "syncline.clients")
    /// Whether others wait for a worker; called once per round.
    private let othersWait: @Sendable () -> Bool
    private let look: @Sendable ([Int32]) -> [Sight]
    private static let interval = DispatchTimeInterval.milliseconds(100)
    /// The number of rounds for which a client may be half closed: two seconds.
    private static let goneRounds = 20

    init(
        othersWait: @escaping @Sendable () -> Bool,
        look: @escaping @Sendable ([Int32]) -> [Sight] = { ClientWatch.look($0) }
    ) {
        self.othersWait = othersWait
        self.look = look
    }

    /// Cancels the work when the client disconnects. The socket must stay open until it is forgotten.
    func watch(_ descriptor: Int32, _ limit: WorkLimit) {
        let isFirst = state.withLock { state in
            state.watched[ObjectIdentifier(limit)] = Watched(descriptor: descriptor, limit: limit)
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if isFirst { keepChecking() }
    }

    /// Cancels all cancellable work.
    func cancelAll() {
        state.withLock { state in for watched in state.watched.values { watched.limit.cancel() } }
    }

    func forget(_ limit: WorkLimit) {
        state.withLock { $0.watched[ObjectIdentifier(limit)] = nil }
    }

    private func keepChecking() {
        queue.asyncAfter(deadline: .now() + ClientWatch.interval) { [weak self] in
            guard let self else { return }
            round()
            let isOver = state.withLock { state in
                state.isLooking = !state.watched.isEmpty
                return !state.isLooking
            }
            if !isOver { keepChecking() }
        }
    }

    /// Checks every client once. This happens under the lock, so that no socket is closed and its number reused
    /// meanwhile.
    func round() {
        let goneRounds = othersWait() ? 0 : ClientWatch.goneRounds
        state.withLock { state in
            let all = Array(state.watched)
            for ((key, watched), finding) in zip(all, look(all.map(\.value.descriptor))) where finding != .open {
                state.watched[key]?.rounds += 1
                if finding == .gone || watched.rounds >= goneRounds { watched.limit.cancel() }
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
        /// POLLRDHUP, which is not imported into Swift.
        private static let hangUp: Int16 = 0x2000
    #endif
}
