// A screen's message about its data: a pure function of the observed values, so every state is tested
// without a store, a server or a view.

import Syncline

struct ScreenStatus: Hashable, Sendable {
    /// What a screen observes.
    struct Observed: Hashable, Sendable {
        /// Whether the list has been read, how long it is, and why it could not be read.
        var isLoaded = false
        var count = 0
        var listError: SyncError?
        /// Why the last action of the user failed.
        var actionError: SyncError?
        /// The changes that were not sent, and the operations that wait for a decision.
        var unsent = 0
        var undecided = 0
        /// What automatic sync is doing.
        var phase: SyncStatus.Phase?
    }

    /// What fills the screen.
    enum Content: Hashable, Sendable {
        case loading, empty, list
        case failed(String)
    }

    /// The line above the list, from what matters least to what matters most.
    enum Notice: Hashable, Comparable, Sendable {
        case upToDate
        case unsent(Int)
        case syncing
        case offline(unsent: Int)
        case delayed(String)
        case undecided(Int)
        case signIn
        case failed(String)
    }

    let content: Content
    let notice: Notice

    init(_ observed: Observed) {
        content = observed.content
        notice = observed.notices.max() ?? .upToDate
    }
}

extension ScreenStatus.Observed {
    /// A list that was read before stays on the screen if a newer one can't be read.
    fileprivate var content: ScreenStatus.Content {
        if count > 0 { return .list }
        if let listError { return .failed(listError.message) }
        return isLoaded ? .empty : .loading
    }

    /// All notices that apply; the most important one is shown.
    fileprivate var notices: [ScreenStatus.Notice] {
        var notices: [ScreenStatus.Notice] = []
        if unsent > 0 { notices.append(.unsent(unsent)) }
        switch phase {
        case nil, .idle, .stopped: break
        case .pushing, .pulling: notices.append(.syncing)
        case .offline: notices.append(.offline(unsent: unsent))
        case .waiting(_, let error): notices.append(error.code == .unauthorized ? .signIn : .delayed(error.message))
        }
        if undecided > 0 { notices.append(.undecided(undecided)) }
        if let error = actionError ?? listError { notices.append(.failed(error.message)) }
        return notices
    }
}

extension ScreenStatus.Notice {
    /// The line; nil if there is nothing to say.
    var text: String? {
        switch self {
        case .upToDate: nil
        case .unsent(let count): "Not sent yet: \(count)"
        case .syncing: "Syncing"
        case .offline(0): "Offline"
        case .offline(let count): "Offline. Not sent yet: \(count)"
        case .delayed(let reason): "The server could not be used: \(reason)"
        case .undecided(let count): "To decide: \(count)"
        case .signIn: "Sign in again to sync"
        case .failed(let reason): reason
        }
    }
}
