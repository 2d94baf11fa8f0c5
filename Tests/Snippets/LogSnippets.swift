// The code of SegmentLog's pages.

import SegmentLog

enum LogSnippets {
    static func log() async throws {
        let writer = try LogWriter.open(at: "notes")
        var batch = RecordBatch()
        batch.append(Array("milk".utf8))
        batch.append(Array("bread".utf8))
        let numbers = try writer.append(batch)  // @1..2, on the disk when this returns

        let reader = try LogReader.open(at: "notes", showing: .written)  // in this process or another, without a lock
        var cursor = try reader.cursor(from: .first)
        while try cursor.nextFrame() {
            cursor.forEachRecord { number, bytes in
                print(number, bytes.byteCount)
            }
        }

        try writer.close()
        expect("\(numbers)" == "@1..2")
    }

    static func checkpoint() async throws {
        let writer = try LogWriter.open(at: "notes")
        var batch = RecordBatch()
        batch.append(Array("milk".utf8))
        _ = try writer.append(batch)

        var checkpoint = try CheckpointWriter.begin(for: writer, through: writer.durableThrough)
        let address = try [UInt8](repeating: 7, count: 100).withUnsafeBytes { bytes throws(LogError) in
            try checkpoint.append(bytes)
        }
        try checkpoint.finish(note: [1, 2, 3])

        if let newest = try Checkpoint.newest(LogReader.open(at: "notes")) {
            print(newest.through, try newest.block(at: address).count)
        }
    }
}
