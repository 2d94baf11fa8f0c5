// Reads a store's events in order. Safe to use while the store is being written.

package import SegmentLog
package import SynclineCore

package struct EventWalk: Sendable {
    private let storage: any LogStorage
    /// The log, if it is opened only once.
    private var reader: LogReader?

    package init(_ storage: any LogStorage) {
        self.storage = storage
    }

    /// Opens the log once for several reads, which see no newer events.
    package init(opening storage: any LogStorage) throws(SyncError) {
        self.init(storage)
        reader = try open()
    }

    private func open() throws(SyncError) -> LogReader {
        if let reader { return reader }
        return try storage.openLog()
    }

    /// The number of the last event.
    package var last: UInt64 {
        get throws(SyncError) {
            let reader = try open()
            var last = reader.newestSegment.rawValue - 1
            try forEachRecord(from: last + 1) { number, _ throws(SyncError) in
                last = number
                return true
            }
            return last
        }
    }

    /// The number of the first retained event.
    package var first: UInt64 {
        get throws(SyncError) {
            try open().floor.rawValue
        }
    }

    /// Whether the log is a store's: it begins with an event, or with the checkpoint of a store. False if there is no
    /// log.
    package var holdsEvents: Bool {
        get throws(SyncError) {
            var isEvent: Bool?
            do throws(SyncError) {
                try forEachRecord(from: 1) { _, record throws(SyncError) in
                    isEvent = (try? Event(record)) != nil
                    return false
                }
            } catch {
                if error.code == .noStore { return false }
                throw error
            }
            if let isEvent { return isEvent }
            return try !CheckpointFile.readings(storage).isEmpty
        }
    }

    /// When an event was written, and the name if it is a transaction of the app; nil if the event was removed.
    package func transaction(_ event: UInt64) throws(SyncError) -> (time: Int64, name: String?)? {
        try read(event) { record throws(SyncError) in
            var reader = try EventReader(record, ShapeTable())
            return try reader.heading()
        }
    }

    /// An event; nil if it was removed.
    package func event(_ event: UInt64) throws(SyncError) -> Event? {
        try read(event) { record throws(SyncError) in try Event(record) }
    }

    private func read<Found>(
        _ event: UInt64, _ body: (UnsafeRawBufferPointer) throws(SyncError) -> Found
    ) throws(SyncError) -> Found? {
        if try event < first { return nil }
        var found: Found?
        try forEachRecord(from: event) { number, record throws(SyncError) in
            if number == event { found = try body(record) }
            return false
        }
        return found
    }

    /// The last event before the first one that is later than a time; 0 if that is the first of all, which is returned,
    /// too.
    package func newest(
        until time: Int64
    ) throws(SyncError) -> (event: UInt64, first: (number: UInt64, time: Int64)?) {
        var newest: UInt64 = 0
        var first: (number: UInt64, time: Int64)?
        let shapes = ShapeTable()
        try forEachRecord(from: 1) { number, record throws(SyncError) in
            let moment = try EventReader(record, shapes).time
            guard moment <= time else {
                if newest == 0 { first = (number, moment) }
                return false
            }
            newest = number
            return true
        }
        return (newest, first)
    }

    /// Calls `body` with each event from a number on, in order, until it returns false.
    package func forEach(
        from first: UInt64 = 1, _ body: (UInt64, Event) throws -> Bool
    ) throws {
        let shapes = ShapeTable()
        try forEachBytes(from: first) { try body($0, Event($1, shapes: shapes)) }
    }

    /// The same with the bytes of each event.
    package func forEachBytes(
        from first: UInt64 = 1, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var failure: (any Error)?
        try forEachRecord(from: first) { number, record throws(SyncError) in
            do {
                return try body(number, record)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Calls `body` with each record from a number on, in order, until it returns false.
    package func forEachRecord(
        from first: UInt64, _ body: (UInt64, UnsafeRawBufferPointer) throws(SyncError) -> Bool
    ) throws(SyncError) {
        let reader = try open()
        // "From the beginning" means from the first retained event.
        var cursor = try first <= 1 ? reader.frames() : reader.frames(from: first)
        var goesOn = true
        while goesOn {
            guard try cursor.advance() else { return }
            try cursor.forEachRecord { number, record throws(SyncError) in
                guard goesOn else { return }
                goesOn = try record.withUnsafeBytes { bytes throws(SyncError) in try body(number.rawValue, bytes) }
            }
        }
    }
}
