// The file system as the log uses it, split by access pattern. `POSIXStorage` is the real one, and `MemoryStorage` keeps
// everything in memory. Names are relative to the log's directory
// ("HEAD", "quarantine/…"); the empty name is the directory itself.

/// One directory of files.
public protocol LogStorage: Sendable {
    /// The location, for messages.
    var location: String { get }

    /// Returns the names in a directory, in no particular order, without "." and "..".
    func names(in directory: String) throws(StorageError) -> [String]

    /// Creates a directory; succeeds if it already exists.
    func createDirectory(_ directory: String) throws(StorageError)

    /// Makes the entries of a directory durable: files created, renamed and removed in it.
    func syncDirectory(_ directory: String) throws(StorageError)

    /// Opens an existing file for reading.
    func openForReading(_ name: String) throws(StorageError) -> any ReadableFile

    /// Opens a file for reading and writing. Creates an empty one if it does not exist and `creation` allows it.
    func openForWriting(_ name: String, creating creation: FileCreation) throws(StorageError) -> any WritableFile

    /// Renames a file, replacing any file that has the new name. The log renames no directories.
    func rename(_ name: String, to newName: String) throws(StorageError)

    /// Removes a file.
    func remove(_ name: String) throws(StorageError)

    /// Removes an empty directory.
    func removeDirectory(_ directory: String) throws(StorageError)

    /// Takes the exclusive lock on a file, which is created if needed; returns nil if the lock is taken. It is held
    /// until it is released or the process ends.
    func lock(_ name: String) throws(StorageError) -> (any FileLock)?

    /// Returns the same storage, bound to the directory itself: no call on the result reaches another directory that
    /// later replaces this one.
    func held() throws(StorageError) -> any LogStorage

    /// Identifies this directory among its copies on the same machine, even after it is moved; nil if that is not
    /// known.
    var place: String? { get }
}

extension LogStorage {
    /// Returns the storage itself: it has no path that could lead elsewhere.
    public func held() throws(StorageError) -> any LogStorage { self }

    /// Does nothing: the storage keeps no empty directories.
    public func removeDirectory(_ directory: String) throws(StorageError) {}

    /// Nil: the storage can't be copied.
    public var place: String? { nil }

    /// Opens a file for reading and writing. With `create`, creates an empty one if it does not exist.
    public func openForWriting(_ name: String, create: Bool) throws(StorageError) -> any WritableFile {
        try openForWriting(name, creating: create ? .ifMissing : .never)
    }
}

/// Whether opening a file for writing may create it.
public enum FileCreation: Sendable {
    /// The file must exist.
    case never
    /// Creates the file if it does not exist.
    case ifMissing
    /// Creates the file if it does not exist. Only its owner may read it, even if it existed before.
    case privately
}

/// A file that any number of threads can read at any offset.
public protocol ReadableFile: AnyObject, Sendable {
    /// Returns the file's length.
    func size() throws(StorageError) -> UInt64

    /// Reads up to the buffer's length at an offset. May return fewer bytes; 0 means the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int

    /// Closes the file. Bytes not yet synced stay with the system.
    func close()
}

/// A file with one writer.
public protocol WritableFile: ReadableFile {
    /// Writes at an offset, growing the file as needed. May write fewer bytes than given, but at least one.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int

    /// Truncates the file, or extends it with zeros.
    func resize(to size: UInt64) throws(StorageError)

    /// Makes content and length durable, as the level requires. After a failure nothing is known about what was
    /// stored, and the call must not be repeated on this file.
    func sync(_ level: SyncLevel) throws(StorageError)
}

/// How much a sync guarantees.
public enum SyncLevel: Sendable {
    /// Survives a power failure.
    case durable
    /// Nothing written later becomes durable before it. The same as `durable` if the system has no such barrier.
    case ordered
}

/// A lock on a file, held by this process.
public protocol FileLock: AnyObject, Sendable {
    /// Whether this process took the lock: false in a forked child, which must not write.
    var isOwned: Bool { get }
    /// Returns whether the lock's name still leads to the locked file, and the storage's path to the directory that
    /// holds it. If not, the files at the path may belong to another log.
    func isInPlace() throws(StorageError) -> Bool
    /// Writes a note into the first line of the locked file, which tells people which process holds it.
    func note(_ text: String)
    /// Releases the lock.
    func release()
}

/// An error of the storage.
public struct StorageError: Error, Hashable, Sendable {
    /// The kind of failure, as far as the log distinguishes it.
    public enum Kind: Sendable {
        /// The kinds of failure.
        case notFound, exists, permission, notADirectory, readOnly, diskFull, inputOutput, other
    }

    /// The kind of failure.
    public var kind: Kind
    /// The failed call: "open", "read", "write", "sync" …
    public var operation: String
    /// The file, relative to the directory.
    public var name: String
    /// The system's error number.
    public var number: Int32
    /// The system's error message.
    public var reason: String
    /// The offset in the file that was to be read or written, if known.
    public var offset: UInt64?

    /// Creates an error.
    public init(_ kind: Kind, operation: String, name: String, number: Int32, reason: String) {
        self.kind = kind
        self.operation = operation
        self.name = name
        self.number = number
        self.reason = reason
    }
}
