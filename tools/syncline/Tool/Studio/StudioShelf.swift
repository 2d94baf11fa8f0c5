// The studios beside the first one, each under a path of its own: a second store, and reports whose files were dropped on
// the page. A report arrives in parts and is read as they come, so another file is refused at its first line.

import SynclineGround

final class StudioShelf: Sendable {
    /// Makes the studio of a store, or of an unpacked report, with the name that the page shows.
    typealias Making =
        @Sendable (
            _ store: String, _ name: String, _ traffic: @escaping @Sendable () throws -> [TrafficSession]
        ) throws -> StudioService

    /// A larger file is for the command line.
    static let limit: UInt64 = 1 << 30
    /// Dropped reports that stay open, and files that arrive at a time. Further ones take the place of the oldest.
    static let places = 4

    private struct Open {
        var number: Int
        var name: String
        var service: StudioService
        /// Goes with the last use of the report.
        var folder: ScratchFolder?
    }

    // Unchecked: it is used only between lock and unlock.
    private struct Content: @unchecked Sendable {
        var open: [Open] = []
        var arriving: [(ticket: String, arrival: ReportArrival)] = []
        var last = 0
    }
    private let content = Mutex(Content())
    private let limit: UInt64
    private let make: Making

    init(limit: UInt64 = StudioShelf.limit, _ make: @escaping Making) {
        self.limit = limit
        self.make = make
    }

    /// Opens a second store for as long as the first.
    func add(_ service: StudioService, name: String) {
        content.withLock { content in
            content.last += 1
            content.open.append(Open(number: content.last, name: name, service: service))
        }
    }

    /// Ends running work, and removes what was made of the reports.
    func stop() {
        let ended = content.withLock { content in
            defer { content = Content() }
            return content
        }
        for open in ended.open { open.service.stop() }
    }

    /// The studios, as the page lists them.
    var json: JSONValue {
        .array(content.withLock { $0.open.map { ["number": .number($0.number), "name": .string($0.name)] } })
    }

    // MARK: Paths

    /// The studio that `/open/2/api/row` means, and the path in it; nil for other paths.
    static func place(_ path: String) -> (number: Int, path: String)? {
        let parts = path.split(separator: "/")
        guard parts.count > 1, parts[0] == "open", let number = Int(parts[1]) else { return nil }
        return (number, "/" + parts.dropFirst(2).joined(separator: "/"))
    }

    /// A studio that is still open. The one used last is the last to go.
    func studio(_ number: Int) -> StudioService? {
        content.withLock { content in
            guard let place = content.open.firstIndex(where: { $0.number == number }) else { return nil }
            let open = content.open.remove(at: place)
            content.open.append(open)
            return open.service
        }
    }

    // MARK: Arrivals

    /// A part of a file.
    struct Part {
        /// The same for all parts of a file.
        var ticket: String
        var name: String
        /// Of the whole file.
        var size: UInt64
        /// Before this part.
        var offset: UInt64
        var bytes: [UInt8]
    }

    /// Takes a part; returns the number of the report's studio after the last one.
    func take(_ part: Part) throws -> Int? {
        guard part.size <= limit else {
            throw ToolError(
                "too-large", "\(escaped(part.name)) has more than \(limit >> 20) MiB",
                hint: "Open it with `syncline studio --store FILE`.")
        }
        return try content.withLock { content in
            var arrival = try StudioShelf.arrival(of: part, &content)
            try arrival.add(part.bytes)
            guard arrival.received >= part.size else {
                if content.arriving.count == StudioShelf.places { content.arriving.removeFirst().arrival.giveUp() }
                content.arriving.append((part.ticket, arrival))
                return nil
            }
            let (report, folder) = try arrival.finish()
            let sessions = report.sessions
            let service = try make(report.store, part.name) { sessions }
            let dropped = content.open.filter { $0.folder != nil }
            if dropped.count >= StudioShelf.places, let oldest = dropped.first {
                oldest.service.stop()
                content.open.removeAll { $0.number == oldest.number }
            }
            content.last += 1
            content.open.append(Open(number: content.last, name: part.name, service: service, folder: folder))
            return content.last
        }
    }

    /// What has arrived so far, out of the list of those that wait for more.
    private static func arrival(of part: Part, _ content: inout Content) throws -> ReportArrival {
        let place = content.arriving.firstIndex { $0.ticket == part.ticket }
        if let place {
            let arrival = content.arriving.remove(at: place).arrival
            if arrival.received == part.offset { return arrival }
            arrival.giveUp()
        } else if part.offset == 0 {
            return try ReportArrival(name: part.name)
        }
        throw ToolError("interrupted", "a part of \(escaped(part.name)) is missing", hint: "Drop the file again.")
    }
}
