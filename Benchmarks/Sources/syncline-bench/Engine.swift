// What a store must do to take part. An engine lives in a worker process of its own; every thread that writes has a
// session. One job is defined, `put`: keep these records (a 16-byte id and a value each) as one commit.

/// How far a commit must reach before it returns.
enum Durability: String, Codable, Sendable {
    /// Survives power loss: the engine's own "sync on every commit".
    case durable
    /// Survives the process: handed to the system, not synced.
    case buffered
}

/// A store opened to be read.
protocol RecordReader: AnyObject {
    /// Reads any one record; returns its size.
    func readFirst() throws -> Int
    /// Reads every record.
    func scan() throws -> ScanTotals
}

/// A store under test, opened on one directory.
protocol Engine: RecordReader, Sendable {
    /// A writer for the calling thread.
    func makeSession() throws -> any Session
    /// A writer for a task, if the engine has one.
    func makeTaskSession() throws -> (any TaskSession)?
    /// What the engine itself counts.
    var ownCounts: OwnCounts { get }
    func close() throws
}

extension Engine {
    func makeTaskSession() throws -> (any TaskSession)? { nil }
    var ownCounts: OwnCounts { OwnCounts() }
}

/// A writer that one thread uses. It blocks that thread.
protocol Session: AnyObject {
    /// Commits a range of records as one unit.
    func put(_ records: RecordSet, _ range: Range<Int>) throws
}

/// A writer that one task uses. It suspends that task.
protocol TaskSession: AnyObject {
    func put(_ records: RecordSet, _ range: Range<Int>) async throws
}

/// A reader that keeps up with a store another process writes.
protocol Follower: AnyObject {
    /// Passes on new records, in order; returns their number.
    func poll(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Int
}

/// What a scan saw. `check` makes sure that every record was touched.
struct ScanTotals: Codable, Sendable {
    var records = 0
    var bytes = 0
    var check: UInt64 = 0

    mutating func add(_ record: UnsafeRawBufferPointer) {
        records += 1
        bytes += record.count
        check &+= UInt64(record[0]) &+ UInt64(record[record.count - 1])
    }

    /// A record whose key lies apart from its value.
    mutating func add(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        records += 1
        bytes += key.count + value.count
        check &+= UInt64(key[0]) &+ UInt64(value[value.count - 1])
    }
}

/// Counts an engine keeps of its own work.
struct OwnCounts: Codable, Sendable {
    var dataSyncs: UInt64?
    var bytesWritten: UInt64?
}

/// A refusal by an engine, or by the system, in words.
struct BenchError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
