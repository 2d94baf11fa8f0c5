// The timeline of syncs: each push and each pull in the log, with the recorded requests that belong to it.

import SegmentLog
import Syncline
import SynclineGround
import SynclineWire

final class StudioSyncs: Sendable {
    private let storage: POSIXStorage
    private let traffic: @Sendable () throws -> [TrafficSession]
    private let known = Mutex<(size: UInt64, sessions: [TrafficSession])?>(nil)

    init(_ storage: POSIXStorage, _ traffic: @escaping @Sendable () throws -> [TrafficSession]) {
        self.storage = storage
        self.traffic = traffic
    }

    /// The recorded sessions. They are read again when the recording has grown.
    private func sessions() throws -> [TrafficSession] {
        let size = ["traffic.jsonl", "traffic.jsonl.old"].reduce(UInt64(0)) { $0 &* 31 &+ storage.size(of: $1) }
        if let known = known.withLock({ $0 }), known.size == size { return known.sessions }
        let sessions = try traffic()
        known.withLock { $0 = (size, sessions) }
        return sessions
    }

    // MARK: Lists

    /// A push or a pull: events in the log, a recorded session, or both.
    private struct Sync {
        var numbers: ClosedRange<UInt64>?
        var kind: String
        /// The place of its session.
        var session: Int?
    }

    /// The syncs, the newest first.
    func list(_ index: StudioIndex, skip: Int, top: Int) throws -> JSONValue {
        let sessions = try sessions()
        let all = StudioSyncs.syncs(index, sessions)
        let shown = all.dropFirst(skip).prefix(top)
        return [
            "count": .number(all.count), "skip": .number(skip), "recorded": .boolean(!sessions.isEmpty),
            "syncs": .array(shown.map { json($0, index, sessions) }),
        ]
    }

    private static func syncs(_ index: StudioIndex, _ sessions: [TrafficSession]) -> [Sync] {
        var found: [Sync] = []
        for place in index.marks.indices {
            let kind: String
            switch index.group(place) {
            case .push?: kind = "push"
            case .pull?: kind = "pull"
            case .lost?, nil: continue
            }
            let number = index.first + UInt64(place)
            if let last = found.last, last.kind == kind, let numbers = last.numbers, numbers.upperBound + 1 == number,
                kind == "push" || index.group(Int(numbers.lowerBound - index.first)) == index.group(place)
            {
                found[found.count - 1].numbers = numbers.lowerBound...number
            } else {
                found.append(Sync(numbers: number...number, kind: kind))
            }
        }
        return join(found, sessions).reversed()
    }

    /// Gives each sync its session: the newest one that began before it. A session without events stands alone.
    private static func join(_ syncs: [Sync], _ sessions: [TrafficSession]) -> [Sync] {
        var joined: [Sync] = []
        var next = 0
        var used: Set<Int> = []
        func passAlone(before number: UInt64) {
            while next < sessions.count, sessions[next].through < number {
                let isLast = next + 1 == sessions.count || sessions[next + 1].through >= number
                if !isLast, !used.contains(next) {
                    joined.append(Sync(kind: sessions[next].words.first ?? "", session: next))
                }
                if isLast { return }
                next += 1
            }
        }
        for var sync in syncs {
            guard let first = sync.numbers?.lowerBound else { continue }
            passAlone(before: first)
            if next < sessions.count, sessions[next].through < first {
                sync.session = next
                used.insert(next)
            }
            joined.append(sync)
        }
        for place in sessions.indices.dropFirst(next) where !used.contains(place) {
            joined.append(Sync(kind: sessions[place].words.first ?? "", session: place))
        }
        return joined
    }

    private func json(_ sync: Sync, _ index: StudioIndex, _ sessions: [TrafficSession]) -> JSONValue {
        let session = sync.session.map { sessions[$0] }
        let head: JSONValue = [
            "kind": .string(sync.kind), "session": sync.session.map { .number($0) } ?? .null,
            "command": .optional(session?.words.joined(separator: " ")),
            "requests": session.map { .number($0.exchanges.count) } ?? .null,
            "result": session?.report.map { StudioSyncs.result($0) } ?? .null,
        ]
        guard let numbers = sync.numbers, let place = index.place(of: numbers.lowerBound),
            let end = index.place(of: numbers.upperBound)
        else {
            let before = session.flatMap { index.place(of: $0.through) }
            return head.adding([
                "after": session.map { .number($0.through) }, "time": before.map { .number(index.times[$0]) },
            ])
        }
        return head.adding([
            "n": .number(numbers.lowerBound), "last": .number(numbers.upperBound), "time": .number(index.times[place]),
            "until": .number(index.times[end]), "what": .string(index.words(numbers).what),
            "problem": .boolean(index.hasProblem(numbers)),
        ])
    }

    /// `complete`, `incomplete` or `stopped`, as the report of a push or a pull says.
    private static func result(_ report: Value) -> JSONValue {
        if case .string(let word)? = report[member: "outcome"] { return .string(word) }
        return .null
    }

    // MARK: Requests

    private static let bodyLimit = 4096

    /// The requests of a session, and what came back.
    func requests(_ number: Int) throws -> JSONValue {
        let sessions = try sessions()
        guard sessions.indices.contains(number) else { return ["requests": []] }
        return ["requests": .array(sessions[number].exchanges.prefix(500).map { StudioSyncs.json($0) })]
    }

    private static func json(_ exchange: RecordedExchange) -> JSONValue {
        let query = exchange.request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let head: JSONValue = [
            "method": .string(exchange.request.method),
            "path": .string(exchange.request.path + (query.isEmpty ? "" : "?" + query)),
            "headers": headers(exchange.request.headers), "body": body(exchange.request.body ?? []),
        ]
        switch exchange.outcome {
        case .response(let response):
            return head.adding([
                "status": .number(response.status), "responseHeaders": headers(response.headers),
                "response": body(response.body),
            ])
        case .failure(let failure): return head.adding(["failure": .string(SyncError(of: failure).message)])
        }
    }

    private static func headers(_ headers: [HTTPHeader]) -> JSONValue {
        .array(headers.map { .string("\($0.name): \($0.value)") })
    }

    private static func body(_ bytes: [UInt8]) -> JSONValue {
        let text = String(decoding: bytes.prefix(bodyLimit), as: UTF8.self)
        return bytes.isEmpty ? .null : .string(text + (bytes.count > bodyLimit ? "…" : ""))
    }
}
