// Finds clients that have disconnected while their requests are processed, or while they listen, because libmicrohttpd
// does not check a suspended connection. A client that has closed its connection and one that has only finished sending
// look the same, so both are given some time; if others wait for a worker, they are given none.

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
        let leave: @Sendable () -> Void
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
    private let interval: DispatchTimeInterval
    /// The number of rounds for which a client may be half closed: two seconds.
    private let goneRounds: Int

    /// - Parameter interval: The time between two rounds, in milliseconds.
    init(
        interval: Int = 100, othersWait: @escaping @Sendable () -> Bool = { false },
        look: @escaping @Sendable ([Int32]) -> [Sight] = { ClientWatch.look($0) }
    ) {
        (self.interval, goneRounds) = (.milliseconds(interval), 2000 / interval)
        self.othersWait = othersWait
        self.look = look
    }

    /// Calls `leave` when the client of some work disconnects. The socket must stay open until the work is forgotten.
    func watch(_ descriptor: Int32, _ work: AnyObject, leave: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.watched[ObjectIdentifier(work)] = Watched(descriptor: descriptor, leave: leave)
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if isFirst { keepChecking() }
    }

    /// Takes all clients as disconnected.
    func leaveAll() {
        for leave in state.withLock({ $0.watched.values.map(\.leave) }) { leave() }
    }

    func forget(_ work: AnyObject) {
        state.withLock { $0.watched[ObjectIdentifier(work)] = nil }
    }

    private func keepChecking() {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self else { return }
            round()
            let isOver = state.withLock { state in
                state.isLooking = !state.watched.isEmpty
                return !state.isLooking
            }
            if !isOver { keepChecking() }
        }
    }

    /// Checks every client once. The sockets are looked at under the lock, so that none is closed and its number reused
    /// meanwhile.
    func round() {
        let goneRounds = othersWait() ? 0 : goneRounds
        let gone = state.withLock { state in
            let all = Array(state.watched)
            var gone: [@Sendable () -> Void] = []
            for ((key, watched), finding) in zip(all, look(all.map(\.value.descriptor))) where finding != .open {
                state.watched[key]?.rounds += 1
                if finding == .gone || watched.rounds >= goneRounds { gone.append(watched.leave) }
            }
            return gone
        }
        for leave in gone { leave() }
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
