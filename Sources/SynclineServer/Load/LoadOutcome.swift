// What became of a request: an answer with an error is a failure, and so is one without what was asked for.

import SynclineCore
import SynclineTables

/// The kinds of requests, and what listeners hear.
enum LoadKind: String, CaseIterable, Hashable, Sendable {
    case insert, update
    /// One row.
    case row
    /// A page of changes.
    case page
    /// A listener heard of a commit.
    case event
}

struct LoadFailure: Error, Hashable, Sendable {
    /// Nil if no answer came, or one that can't be read.
    var status: Int?
    var reason: String

    /// Whether there is no such row, or not any more.
    private(set) var isGone = false
    /// Whether the server may have done what it was asked.
    var isUnclear: Bool { status.map { $0 >= 500 } ?? true }

    init(_ status: Int?, _ reason: String) { (self.status, self.reason) = (status, reason) }

    init(_ failure: NetworkFailure) {
        switch failure {
        case .offline(let reason), .refused(let reason): self.init(nil, reason)
        case .notSent(let error): self.init(nil, error.message)
        case .cancelled: self.init(nil, "the load was interrupted")
        }
    }

    /// Nil for a status that says that it was done.
    init?(_ reply: ServerReply) {
        if (200...299).contains(reply.status) { return nil }
        self.init(reply.status, reply.message ?? "")
        isGone = [404, 410].contains(reply.status)
        // The older protocol answers with the tombstone.
        if case .row(let row) = reply.content, row.isDeleted { isGone = true }
    }
}

/// The answer to a request.
typealias LoadAnswer = Result<ServerReply, LoadFailure>

extension LoadAnswer {
    /// The outcome of each of a request's writes.
    func writes(_ count: Int) -> [LoadAnswer] {
        switch self {
        case .failure: break
        case .success(let reply):
            if let failure = LoadFailure(reply) { return Array(repeating: .failure(failure), count: count) }
            if case .results(let replies) = reply.content, replies.count == count {
                return replies.map { reply in LoadFailure(reply).map { .failure($0) } ?? .success(reply) }
            }
            if case .row = reply.content, count == 1 { return [self] }
            let failure = LoadFailure(nil, "the answer has no results")
            return Array(repeating: .failure(failure), count: count)
        }
        return Array(repeating: self, count: count)
    }

    /// Why a read failed; nil if it has what was asked for.
    func readFailure(_ kind: LoadKind) -> LoadFailure? {
        switch self {
        case .failure(let failure): return failure
        case .success(let reply):
            if let failure = LoadFailure(reply) { return failure }
            switch reply.content {
            case .row where kind == .row, .changes where kind == .page: return nil
            case .unreadable(let reason), .unreadableRow(_, let reason): return LoadFailure(nil, reason)
            default: return LoadFailure(nil, "the answer is not a \(kind.rawValue)")
            }
        }
    }
}

extension ServerReply {
    /// The number of a write's change.
    var change: Int64? {
        guard case .row(let row) = content, case .string(let version)? = row.columns["version"] else { return nil }
        return RowVersion.change(version)
    }
}
