// A state as data. An export of events begins with it if earlier history was removed, and an import begins a log
// with it. The entries are encoded as in the state, and depend on the version of the fold.

package import SegmentLog
package import SynclineCore
import SynclineGround

package enum StateTransfer {
    /// The approximate size of a piece, in bytes of entries.
    private static let pieceSize = 48 << 10

    /// Calls `body` with all entries of a state, in pieces: key and value, each preceded by its length.
    package static func forEachPiece(of projector: Projector, _ body: ([UInt8]) throws -> Void) throws {
        var piece = ByteWriter()
        var place = try projector.store.snapshot.cursor(from: UnsafeRawBufferPointer(start: nil, count: 0))
        while let key = place.key, let value = place.value {
            piece.append(counted: key)
            piece.append(counted: value)
            if piece.count >= pieceSize {
                try body(piece.bytes)
                piece.removeAll()
            }
            try place.advance()
        }
        if piece.count > 0 { try body(piece.bytes) }
    }

    /// Adds the entries of a piece to a state.
    package static func add(_ piece: [UInt8], to store: StateStore) throws(SyncError) {
        do throws(MalformedBytes) {
            try piece.withBytes { (bytes: UnsafeRawBufferPointer) throws(MalformedBytes) in
                var reader = ByteReader(bytes)
                while !reader.isAtEnd {
                    let key = try reader.counted()
                    store.put(key, try reader.counted(), old: nil)
                }
            }
        } catch {
            throw SyncError.malformed("the state")
        }
        store.endCommit()
        try store.settle(above: 16 << 20)
    }

    /// Creates a log that begins after the events a state includes, with a checkpoint of that state.
    package static func begin(
        _ storage: any LogStorage, with projector: Projector, clock: any LogClock = SystemClock()
    ) throws(SyncError) -> LogWriter {
        let log = try storage.createLog(after: projector.through, clock: clock)
        try checkpoint(projector, in: log)
        return log
    }

    /// Writes a checkpoint of a whole state into a log that ends with it.
    static func checkpoint(_ projector: Projector, in log: LogWriter) throws(SyncError) {
        projector.store.rotate()
        let job = CheckpointJob(
            log: log, isWhole: true, layers: projector.store.layers, through: projector.through,
            totals: projector.totals, digest: projector.store.digest, retention: .everything)
        projector.store.install(try job.run())
    }
}
