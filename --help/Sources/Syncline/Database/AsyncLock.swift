// Allows one push or pull at a time. Others wait in line, and can be cancelled while they wait.

import SynclineGround

final class AsyncLock: Sendable {
    private struct State {
        var isBusy = false
        var waiting: [(ticket: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var nextTicket = 0
    }

    private let state = Mutex(State())

    /// Waits for its turn; returns false if the task was cancelled first.
    func lock() async -> Bool {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMine = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if !state.isBusy {
                        state.isBusy = true
                        return true
                    }
                    state.waiting.append((ticket, continuation))
                    return nil
                }
                if let isMine { continuation.resume(returning: isMine) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let place = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
                return state.waiting.remove(at: place).continuation
            }
            waiter?.resume(returning: false)
        }
    }

    func unlock() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.waiting.isEmpty {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
