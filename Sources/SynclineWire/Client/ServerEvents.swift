// Server-sent events: takes pieces of any size, returns events.

package struct ServerEvents {
    package struct Event: Hashable, Sendable {
        package var name: String
        package var data: String
        /// The tables that it names; nil: any.
        package var tables: [String]?

        package init(_ name: String, _ data: String, tables: [String]? = nil) {
            (self.name, self.data, self.tables) = (name, data, tables)
        }
    }

    private var line: [UInt8] = []
    private var event = Event("", "")
    /// A longer line is not a cursor, and may be a part of a list.
    private static let lineLimit = 4096

    package init() {}

    /// Returns the events that a piece completes.
    package mutating func take(_ piece: [UInt8]) -> [Event] {
        var events: [Event] = []
        for byte in piece {
            if byte != 0x0a {
                if line.count < ServerEvents.lineLimit { line.append(byte) }
            } else if let event = endLine() {
                events.append(event)
            }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        if line.last == 0x0d { line.removeLast() }
        defer { line = [] }
        if line.isEmpty {
            defer { event = Event("", "") }
            return event.data.isEmpty ? nil : event
        }
        let sides = String(decoding: line, as: UTF8.self).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let value = String(sides[1].first == " " ? sides[1].dropFirst() : sides[1])
        switch sides[0] {
        case "event": event.name = value
        case "data": event.data = value
        case "tables" where line.count < ServerEvents.lineLimit && !value.isEmpty:
            event.tables = value.split(separator: ",").map(String.init)
        default: break
        }
        return nil
    }
}
