// A table in memory whose changes are numbered: a server with a changes feed, as simple as possible.

import LogTesting

@testable import SynclineCore

struct NumberedServer {
    struct Row: Hashable {
        var change: Int
        var number: Int64
        var isDeleted = false
    }

    private(set) var rows: [String: Row] = [:]
    /// Another one is another database.
    private(set) var epoch = 1
    private(set) var latest = 0
    /// Tombstones up to here are purged.
    private(set) var purged = 0
    private(set) var requests = 0
    var tellsChanges = true

    mutating func write(_ count: Int, _ ids: Int, _ chance: inout Chance) {
        for _ in 0..<count {
            latest += 1
            rows["r\(chance.below(ids))"] = Row(
                change: latest, number: Int64(chance.below(10)), isDeleted: chance.once(in: 5))
        }
    }

    mutating func purge() {
        purged = latest
        rows = rows.filter { !$0.value.isDeleted }
    }

    /// A backup is restored: the last changes are gone, and their numbers are used again.
    mutating func setBack(_ chance: inout Chance) {
        epoch += 1
        latest /= 2
        purged = min(purged, latest)
        rows = rows.filter { $0.value.change <= latest }
        write(3, 8, &chance)
    }

    func matching(_ filter: FilterExpression?) -> [String: Row] {
        rows.filter { id, row in
            guard !row.isDeleted else { return false }
            return filter.map { filter in
                let columns = SynclineCore.Row([.init("n", .integer(row.number))])
                return columns.withView { view in
                    Array(id.utf8).withUnsafeBytes { filter.matches(EncodedRowView(id: $0, row: view)) }
                }
            } ?? true
        }
    }

    /// A row's version names the database, because its number alone would not identify the change.
    func version(_ row: Row) -> String { "\(epoch)-\(row.change)" }

    mutating func answer(_ request: ChangesRequest) -> ServerReply {
        requests += 1
        var reply = ServerReply(status: 200, content: .unreadable("no changes"))
        guard tellsChanges else {
            reply.status = 404
            return reply
        }
        reply.capabilities = [.changes, .batch]
        // The database, the change, and for a first read the latest change when it began.
        let parts = request.since.split(separator: ".").compactMap { Int($0) }
        if parts.count >= 2, parts[0] != epoch || parts[1] > latest || (parts.count > 2 ? parts[2] : parts[1]) < purged
        {
            reply.status = 410
            return reply
        }
        let since = parts.count >= 2 ? parts[1] : 0
        let begin = parts.count > 2 ? parts[2] : parts.isEmpty ? latest : 0
        let seen = matching(request.filter)
        let all = rows.filter { $0.value.change > since }.sorted { $0.value.change < $1.value.change }
        let page = all.prefix(request.top)
        let hasMore = page.count < all.count
        let told = page.compactMap { id, row -> ServerRow? in
            let version = Value.Member("version", .string(version(row)))
            if row.isDeleted { return ServerRow(id: id, columns: SynclineCore.Row([version]), isDeleted: true) }
            var columns = [Value.Member("n", .integer(row.number)), version]
            if seen[id] == nil { columns.removeFirst() }
            var told = ServerRow(id: id, columns: SynclineCore.Row(columns), isDeleted: false)
            told.hasLeft = seen[id] == nil
            return told.hasLeft && row.change <= begin ? nil : told
        }
        let end = hasMore ? page.last?.value.change ?? latest : latest
        let cursor = "\(epoch).\(end)" + (hasMore && begin > 0 ? ".\(begin)" : "")
        reply.content = .changes(
            ServerChanges(rows: told, cursor: cursor, hasMore: hasMore, count: request.counts ? all.count : nil))
        return reply
    }
}
