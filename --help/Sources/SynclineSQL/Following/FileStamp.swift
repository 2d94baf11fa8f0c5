// The stamp of a file that follows a store: the event that the file is at, a hash of that event's record, and what the file
// is made from. If the log has another record at that number, the file was made from another history.

import SynclineCore
import SynclineGround

struct FileStamp: Hashable {
    var event: UInt64
    /// In hexadecimal digits.
    var record: String
    /// The format, and all that the content depends on.
    var form: String

    /// The application's number in the header of a file that was made here.
    static let applicationID: UInt32 = 0x5379_6e63

    /// Returns a file's stamp, or nil if it has none.
    static func read(_ file: FileConnection) throws(FileFailure) -> FileStamp? {
        guard try !file.run("SELECT 1 FROM sqlite_schema WHERE name = 'syncline_stamp'").isEmpty,
            let row = try file.run("SELECT event, record, form FROM syncline_stamp").first,
            case .integer(let event) = row[0], case .string(let record) = row[1], case .string(let form) = row[2]
        else { return nil }
        return FileStamp(event: UInt64(bitPattern: event), record: record, form: form)
    }

    /// Writes the stamp, as part of a transaction.
    func write(_ file: FileConnection) throws(FileFailure) {
        try file.run("CREATE TABLE IF NOT EXISTS syncline_stamp (event INTEGER, record TEXT, form TEXT)")
        try file.run("DELETE FROM syncline_stamp")
        try file.run(
            "INSERT INTO syncline_stamp VALUES (?, ?, ?)",
            [.integer(Int64(bitPattern: event)), .string(record), .string(form)])
    }

    /// The hash of a record.
    static func hash(_ record: UnsafeRawBufferPointer) -> String {
        var writer = ByteWriter()
        writer.append(fixed: hash64(record))
        return Hexadecimal.text(of: writer.bytes)
    }
}
