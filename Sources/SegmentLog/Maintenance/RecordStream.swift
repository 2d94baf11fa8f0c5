// Streams the records of a log: through a fast cursor while everything is intact, and from the first damage on by
// the slower walk that continues after it.

import SynclineGround

extension LogInspection {
    /// Visits the records from a number on, until the visitor returns false. Losses are reported at their place and
    /// skipped.
    package func forEachRecord(
        from first: UInt64 = 1, _ visit: (UInt64, UnsafeRawBufferPointer) throws -> Bool,
        lost: (RecordFound) throws -> Void = { _ in }
    ) throws {
        var next = first
        do {
            let reader = try LogReader.open(storage, showing: .written)
            var cursor = try first <= 1 ? reader.cursor() : reader.cursor(from: SequenceNumber(rawValue: first))
            while try cursor.nextFrame() {
                if let hole = cursor.lastHole, hole.first.rawValue >= next { try lost(.hole(hole)) }
                let continues = try LogInspection.visit(&cursor, &next, visit)
                if !continues { return }
            }
            return
        } catch let error as LogError {
            guard error.code == .storeCorrupt else { throw error }
        }
        try continueReading(from: next, visit, lost)
    }

    /// Visits the records of the current frame; rethrows a visitor's error.
    private static func visit(
        _ cursor: inout LogCursor, _ next: inout UInt64, _ visit: (UInt64, UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        var continues = true
        try cursor.forEachRecord { (number, record) throws in
            guard continues else { return }
            next = number.rawValue + 1
            continues = try record.withUnsafeBytes { try visit(number.rawValue, $0) }
        }
        return continues
    }

    private struct Stopped: Error {}

    private func continueReading(
        from first: UInt64, _ visit: (UInt64, UnsafeRawBufferPointer) throws -> Bool,
        _ lost: (RecordFound) throws -> Void
    ) throws {
        let address: RecordAddress? = first <= 1 ? nil : .number(SequenceNumber(rawValue: first))
        do {
            _ = try records(from: address) { found in
                guard case .record(let record) = found else { return try lost(found) }
                let continues = try record.bytes.withBytes { try visit(record.sequence.rawValue, $0) }
                if !continues { throw Stopped() }
            }
        } catch is Stopped {}
    }

    /// Returns the last record before the first lost one; nil if none is lost.
    package func lastBeforeLoss() throws -> UInt64? {
        var last: UInt64 = 0
        var isLost = false
        try forEachRecord { number, _ in
            if isLost { return false }
            last = number
            return true
        } lost: { _ in
            isLost = true
        }
        return isLost ? last : nil
    }
}
