// A table in memory whose rows move while it is read: as simple as possible, so that it is obviously right.

import LogTesting

@testable import SynclineCore

struct MovingServer {
    struct Row: Hashable {
        /// When it was last written, in microseconds.
        var time: Int64
        var version: Int64
        var number: Int64
        var isDeleted = false
    }

    private(set) var rows: [String: Row] = [:]
    /// Microseconds since 1970.
    private(set) var clock: Int64 = 1_767_225_600_000_000
    private var versions: Int64 = 0
    private let step: Int64
    let pageLimit: Int
    let tellsTime: Bool
    let counts: Bool
    private(set) var requests = 0

    init(isMicroseconds: Bool, pageLimit: Int, tellsTime: Bool, counts: Bool) {
        step = isMicroseconds ? 100 : 1000
        self.pageLimit = pageLimit
        self.tellsTime = tellsTime
        self.counts = counts
    }

    /// Writes some rows, sometimes several at the same time.
    mutating func write(_ count: Int, _ ids: Int, _ chance: inout Chance) {
        for _ in 0..<count {
            if !chance.once(in: 3) { clock += step }
            versions += 1
            let time = clock / step * step
            let id = "r\(chance.below(ids))"
            rows[id] = Row(
                time: time, version: versions, number: Int64(chance.below(50)), isDeleted: chance.once(in: 8))
        }
    }

    /// Time moves to another millisecond.
    mutating func tick() { clock = (clock / 1000 + 1) * 1000 }

    mutating func answer(_ request: ListRequest) -> ServerReply {
        requests += 1
        let matches = rows.filter { id, row in
            let view = row.columns(exact: true)
            return request.filter.map { filter in
                view.withView { view in
                    Array(id.utf8).withUnsafeBytes { filter.matches(EncodedRowView(id: $0, row: view)) }
                }
            } ?? true
        }
        let sorted = matches.sorted { left, right in
            for key in request.order {
                let (one, other): (Int64, Int64)
                switch key.column {
                case "updatedAt": (one, other) = (left.value.time, right.value.time)
                case "n": (one, other) = (left.value.number, right.value.number)
                default: return left.key < right.key
                }
                if one != other { return (one < other) != key.isDescending }
            }
            return left.key < right.key
        }
        let page = sorted.dropFirst(request.skip).prefix(min(pageLimit, request.top ?? pageLimit))
        let list = ServerList(
            rows: page.map {
                ServerRow(id: $0.key, columns: $0.value.columns(exact: false), isDeleted: $0.value.isDeleted)
            },
            count: counts ? matches.count : nil)
        var reply = ServerReply(status: 200, content: .list(list))
        if tellsTime { reply.date = Timestamp.Instant(seconds: clock / 1_000_000) }
        return reply
    }
}

extension MovingServer.Row {
    /// The row as it is stored, or as it is sent, which is to the millisecond.
    func columns(exact: Bool) -> SynclineCore.Row {
        let micros = exact ? time : time / 1000 * 1000
        let instant = Timestamp.Instant(
            seconds: micros / 1_000_000, nanoseconds: UInt32(micros % 1_000_000) * 1000)
        return SynclineCore.Row([
            .init("n", .integer(number)), .init("updatedAt", .date(Timestamp(instant, decimals: exact ? 6 : 3))),
            .init("version", .string("\(version)")),
        ])
    }
}
