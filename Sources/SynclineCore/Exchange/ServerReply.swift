// What a server answers, in the words of neither protocol.

/// What a server answered.
package struct ServerReply: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// An object with a text for an id.
        case row(ServerRow)
        /// A list of such objects.
        case list(ServerList)
        case changes(ServerChanges)
        /// What became of the writes of a batch, in their order.
        case results([ServerReply])
        /// Nothing, or nothing that can be read as either; the reason is for people.
        case unreadable(String)
    }

    package enum RetryAfter: Hashable, Sendable {
        case milliseconds(Int64)
        /// Of an answer that does not tell the server's time.
        case moment(Timestamp.Instant)

        /// A moment as a time from now on, if it is known what time it is on the server.
        package func counted(from now: Timestamp.Instant?) -> RetryAfter {
            guard case .moment(let moment) = self, let now else { return self }
            return .milliseconds(max(0, moment.milliseconds &- now.milliseconds))
        }
    }

    package var status: Int
    package var content: Content
    /// The version in a strong ETag; weak ones say nothing.
    package var etag: String?
    /// The server's clock.
    package var date: Timestamp.Instant?
    package var retryAfter: RetryAfter?
    /// How long the server asks to wait, in milliseconds; nil if it does not say, or says a moment without its clock.
    package var asksToWait: Int64? {
        if case .milliseconds(let wait)? = retryAfter { wait } else { nil }
    }
    /// The longest wait that is accepted, in milliseconds. If the server asks for more, the push or pull stops instead,
    /// and nothing is lost.
    package var longestWait = ServerReply.usualLongestWait
    package static let usualLongestWait: Int64 = 300_000
    /// Whether another try waits for as long as the server asks.
    package var isWaitedFor: Bool { asksToWait ?? 0 <= longestWait }
    /// The server's words about an error, cut to a length that people read.
    package var message: String?
    package var capabilities: ServerCapabilities = []

    package init(status: Int, content: Content) {
        self.status = status
        self.content = content
    }

    /// Sets the longest wait that is accepted, also for each of several results.
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
    /// All its columns, system columns too, in the order they came; dates only in system columns.
    package var columns: Row
    package var isDeleted: Bool
    /// It is there and matches the filter no longer: of its columns only the version is told.
    package var hasLeft = false
    /// The millisecond it was last changed in, where it says.
    package var moment: Int64?

    package init(id: String, columns: Row, isDeleted: Bool) {
        self.init(id: id, columns: columns, isDeleted: isDeleted, moment: columns["updatedAt"]?.moment)
    }

    /// For who has read the moment already.
    package init(id: String, columns: Row, isDeleted: Bool, moment: Int64?) {
        self.id = id
        self.columns = columns
        self.isDeleted = isDeleted
        self.moment = moment
    }
}

extension ServerRow {
    /// A row that is not there.
    package static func gone(_ id: String) -> ServerRow { ServerRow(id: id, columns: .empty, isDeleted: true) }
}

package struct ServerList: Hashable, Sendable {
    package var rows: [ServerRow]
    /// How many rows match in all, where the server says.
    package var count: Int?
    /// The parameters of the next page, where the server links to one. Only who reads a list once follows it: it counts
    /// rows that may move.
    package var next: String?

    package init(rows: [ServerRow], count: Int?) {
        self.rows = rows
        self.count = count
    }
}

package struct ServerChanges: Hashable, Sendable {
    package var rows: [ServerRow]
    /// Where to go on.
    package var cursor: String
    /// Whether there is more already.
    package var hasMore: Bool
    /// How many there were behind the cursor that was asked with, where the server says.
    package var count: Int?

    package init(rows: [ServerRow], cursor: String, hasMore: Bool, count: Int? = nil) {
        self.rows = rows
        self.cursor = cursor
        self.hasMore = hasMore
        self.count = count
    }
}

/// What a server can do beyond its protocol, as every answer of it says.
package struct ServerCapabilities: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Changes by their numbers.
    package static let changes = ServerCapabilities(rawValue: 1)
    /// Several writes in one request.
    package static let batch = ServerCapabilities(rawValue: 2)
    /// A stream that tells when there are changes.
    package static let events = ServerCapabilities(rawValue: 4)
    /// A write that is repeated with its operation id gets the first answer and changes nothing.
    package static let operations = ServerCapabilities(rawValue: 8)
}
