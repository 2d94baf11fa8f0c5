// A server's replies, independent of the protocol.

/// A server's response.
package struct ServerReply: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// An object with a string id.
        case row(ServerRow)
        /// One that can't be read, and why. The id is nil if the answer was not read at all.
        case unreadableRow(id: String?, String)
        /// A list of such objects.
        case list(ServerList)
        case changes(ServerChanges)
        /// The results of a batch's writes, in their order.
        case results([ServerReply])
        /// Nothing, or a body that is neither; the reason is for people.
        case unreadable(String)
    }

    package enum RetryAfter: Hashable, Sendable {
        case milliseconds(Int64)
        /// An absolute time in a response that does not have the server's time.
        case moment(Timestamp.Instant)

        /// Converts an absolute time to a delay, if the server's time is known.
        package func counted(from now: Timestamp.Instant?) -> RetryAfter {
            guard case .moment(let moment) = self, let now else { return self }
            return .milliseconds(max(0, moment.milliseconds &- now.milliseconds))
        }
    }

    package var status: Int
    package var content: Content
    /// Whether its body was larger than the limit, and was not read.
    package var isTooLarge = false
    /// The version in a strong ETag; weak ones are ignored.
    package var etag: String?
    /// The server's clock.
    package var date: Timestamp.Instant?
    package var retryAfter: RetryAfter?
    /// How long the server asks to wait, in milliseconds; nil if it does not say, or gives an absolute time without
    /// its clock.
    package var asksToWait: Int64? {
        if case .milliseconds(let wait)? = retryAfter { wait } else { nil }
    }
    /// The maximum accepted wait, in milliseconds. If the server asks for more, the push or pull stops instead,
    /// without losing data.
    package var longestWait = ServerReply.usualLongestWait
    package static let usualLongestWait: Int64 = 300_000
    /// Whether a retry waits for as long as the server asks.
    package var isWaitedFor: Bool { asksToWait ?? 0 <= longestWait }
    /// The server's error message, shortened.
    package var message: String?
    package var capabilities: ServerCapabilities = []

    package init(status: Int, content: Content) {
        self.status = status
        self.content = content
    }

    /// Sets the maximum accepted wait, also for each result of a batch.
    package mutating func accept(waitsUpTo limit: Int64) {
        longestWait = limit
        guard case .results(let results) = content else { return }
        content = .results(
            results.map { result in
                var result = result
                result.accept(waitsUpTo: limit)
                return result
            })
    }
}

/// A row as a server sent it.
package struct ServerRow: Hashable, Sendable {
    package var id: String
    /// All its columns, including system columns, in the order they came; only system columns are parsed as dates.
    package var columns: Row
    package var isDeleted: Bool
    /// Whether it exists but no longer matches the filter: of its columns only the version is known.
    package var hasLeft = false
    /// Whether it left because the user lost the right to it: nothing of it is known, and the server won't tell more.
    package var isByRight = false
    /// Whether the client may not read its values: of its columns only the version is known.
    package var isHidden = false
    /// The millisecond of its last change, if known.
    package var moment: Int64?
    /// Why it can't be read; then it has no columns, and an empty id if that can't be read, either.
    package var fault: RowFault?

    package init(id: String, columns: Row, isDeleted: Bool, moment: Int64?) {
        self.id = id
        self.columns = columns
        self.isDeleted = isDeleted
        self.moment = moment
    }

    /// Returns a row of which the client may know only this.
    package static func hidden(_ id: String, version: String, isDeleted: Bool) -> ServerRow {
        var row = ServerRow(
            id: id, columns: Row([.init("version", .string(version))]), isDeleted: isDeleted, moment: nil)
        row.isHidden = true
        return row
    }

    /// Returns a row that does not exist.
    package static func gone(_ id: String) -> ServerRow {
        ServerRow(id: id, columns: .empty, isDeleted: true, moment: nil)
    }
}

/// Why a row of a list can't be read.
package struct RowFault: Hashable, Sendable {
    package var reason: String
    /// The row's number in its list, from 1.
    package var place: Int
    /// A hash of its bytes.
    package var digest: UInt64

    package init(_ reason: String, place: Int, digest: UInt64) {
        self.reason = reason
        self.place = place
        self.digest = digest
    }
}

extension UnreadableRow {
    /// Nil for a row that can be read.
    package init?(_ row: ServerRow, table: String) {
        guard let fault = row.fault else { return nil }
        self.init(
            table: table, id: row.id.isEmpty ? nil : row.id, place: fault.place, reason: fault.reason,
            digest: fault.digest)
    }
}

package struct ServerList: Hashable, Sendable {
    package var rows: [ServerRow]
    /// The total number of matching rows, if the server says so.
    package var count: Int?
    /// The parameters of the next page, if the server sent a link. Only one-time reads of a list follow it, because
    /// it counts rows that may move.
    package var next: String?

    package init(rows: [ServerRow], count: Int?) {
        self.rows = rows
        self.count = count
    }
}

package struct ServerChanges: Hashable, Sendable {
    package var rows: [ServerRow]
    /// Where the next page begins.
    package var cursor: String
    /// Whether there are already more changes.
    package var hasMore: Bool
    /// The number of changes after the request's cursor, if the server says so.
    package var count: Int?

    package init(rows: [ServerRow], cursor: String, hasMore: Bool, count: Int? = nil) {
        self.rows = rows
        self.cursor = cursor
        self.hasMore = hasMore
        self.count = count
    }
}

/// A server's capabilities beyond its protocol, which every response of it states.
package struct ServerCapabilities: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Changes by their numbers.
    package static let changes = ServerCapabilities(rawValue: 1)
    /// Several writes in one request.
    package static let batch = ServerCapabilities(rawValue: 2)
    /// An event stream that announces changes.
    package static let events = ServerCapabilities(rawValue: 4)
    /// A write repeated with its operation id gets the first response and changes nothing.
    package static let operations = ServerCapabilities(rawValue: 8)
    /// It says what the caller may do.
    package static let access = ServerCapabilities(rawValue: 16)
}
