// The rows the stores are measured with: todo items of six columns, the same on every run and machine, made before any
// clock starts. Ids differ in all rows; the contents repeat after 65,536, far beyond what a compressor sees at once.

import SynclineCore

/// What is in a row, in each of the forms a store takes.
struct Todo: Sendable {
    var title: String
    var isDone: Bool
    var priority: Int
    var project: String
    /// `2026-05-19T21:30:00.123Z`
    var due: String
    /// Sixteen hexadecimal digits.
    var tag: String
    var values: [Value]
    var json: [UInt8]

    static let shape = RowShape(["title", "done", "priority", "project", "due", "tag"])

    init(_ index: Int) {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: RecordWriter.largestRecord)
        defer { memory.deallocate() }
        var writer = RecordWriter(at: memory)
        writer.write(record: index)
        let record = UnsafeRawBufferPointer(start: memory, count: writer.end - memory)
        // After the 16 bytes of the id and `{"id":"…",`.
        let text = String(decoding: record[(16 + 45)...], as: UTF8.self)
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        title = String(parts[3])
        isDone = parts[6].hasPrefix(":true")
        priority = Int(String(parts[8].dropFirst().dropLast())) ?? 0
        project = String(parts[11])
        due = String(parts[15])
        tag = String(parts[19])
        values = [
            .string(title), .bool(isDone), .integer(Int64(priority)), .string(project), .string(due), .string(tag),
        ]
        json = Array(
            """
            {"title":"\(title)","done":\(isDone),"priority":\(priority),"project":"\(project)","due":"\(due)","tag":"\(tag)"}
            """.utf8)
    }
}

final class TodoRows: Sendable {
    let count: Int
    let ids: [String]
    private let contents: [Todo]
    private let isOrdered: Bool

    static let distinct = 1 << 16

    init(count: Int, isOrdered: Bool) {
        self.count = count
        self.isOrdered = isOrdered
        contents = (0..<TodoRows.distinct).map { Todo($0) }
        ids = (0..<count).map { TodoRows.text(TodoRows.key($0, isOrdered)) }
    }

    subscript(index: Int) -> Todo { contents[index & (TodoRows.distinct - 1)] }

    /// The id of any row, whether it is one of those that were made or not.
    func id(_ index: Int) -> String { TodoRows.text(key(index)) }

    func key(_ index: Int) -> (UInt64, UInt64) { TodoRows.key(index, isOrdered) }

    /// A UUID of version 4; of ordered ones the first eight bytes grow with the index, as those of version 7 do.
    private static func key(_ index: Int, _ isOrdered: Bool) -> (UInt64, UInt64) {
        var random = SplitMix64(seed: UInt64(index) &+ 1)
        let high = random.next() & 0xffff_ffff_ffff_0fff | 0x4000
        let low = random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        return isOrdered ? (UInt64(index) << 16 | 0x7000, low) : (high, low)
    }

    private static func text(_ key: (UInt64, UInt64)) -> String {
        func digits(_ value: UInt64, _ count: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: count - text.count) + text
        }
        return digits(key.0 >> 32, 8) + "-" + digits(key.0 >> 16 & 0xffff, 4) + "-" + digits(key.0 & 0xffff, 4) + "-"
            + digits(key.1 >> 48, 4) + "-" + digits(key.1 & 0xffff_ffff_ffff, 12)
    }
}

/// Calls `body` with the sixteen bytes of a key, the highest first.
func withBytes<Result>(of key: (UInt64, UInt64), _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withUnsafeBytes(of: (key.0.bigEndian, key.1.bigEndian), body)
}
