// The door to files: everything the log asks of the world's disks, split by access pattern. `POSIXStorage` is the real
// one, `MemoryStorage` keeps everything in memory; a faulty one for tests ships in SynclineTesting.
// Names are relative to the log's directory ("HEAD", "quarantine/…"); the empty name is the directory itself.

/// One directory of files.
public protocol LogStorage: Sendable {
    /// Where it is, in words for messages.
    var location: String { get }

    /// The names of what is in a directory, in no order, without "." and "..".
    func names(in directory: String) throws(StorageError) -> [String]

    /// Makes a directory; one that is there already is no error.
    func createDirectory(_ directory: String) throws(StorageError)

    /// Makes the entries of a directory durable: what was created, renamed and removed in it.
    func syncDirectory(_ directory: String) throws(StorageError)

    /// Opens a file that is there for reading.
    func openForReading(_ name: String) throws(StorageError) -> any ReadableFile

    /// Opens a file for reading and writing; an empty one is made if there is none and `creation` allows it.
    func openForWriting(_ name: String, creating creation: FileCreation) throws(StorageError) -> any WritableFile

    /// Gives a file another name, replacing what has it.
    func rename(_ name: String, to newName: String) throws(StorageError)

    /// Removes a file.
    func remove(_ name: String) throws(StorageError)

    /// Removes a directory that is empty.
    func removeDirectory(_ directory: String) throws(StorageError)

    /// Takes the exclusive lock on a file, which is made if needed; nil if it is taken. It is held until released
    /// or until the process ends.
    func lock(_ name: String) throws(StorageError) -> (any FileLock)?

    /// The same files, reached through the directory itself from now on: whatever is put in the place of the
    /// directory later, no call on the result reaches it.
    func held() throws(StorageError) -> any LogStorage

    /// Tells this directory from every copy of it on the same machine, and stays when it is moved; nil if that can't be
    /// told.
    var place: String? { get }
}

extension LogStorage {
    /// A storage that has no path which could lead elsewhere.
    public func held() throws(StorageError) -> any LogStorage { self }

    /// A storage that keeps no directories without files.
    public func removeDirectory(_ directory: String) throws(StorageError) {}

    /// A storage that knows nothing of copies.
    public var place: String? { nil }

    /// Opens a file for reading and writing; `create` makes an empty one if there is none.
    public func openForWriting(_ name: String, create: Bool) throws(StorageError) -> any WritableFile {
        try openForWriting(name, creating: create ? .ifMissing : .never)
    }
}

/// Whether opening a file for writing may make it.
public enum FileCreation: Sendable {
    /// There must be one.
    case never
    /// Made if there is none.
    case ifMissing
    /// Made if there is none; only its owner may read it, even if the file existed before.
    case privately
}

/// A file that is read at any offset, by any number of threads.
public protocol ReadableFile: AnyObject, Sendable {
    /// The file's length.
    func size() throws(StorageError) -> UInt64

    /// Reads up to the buffer's length at an offset. Fewer bytes may come; 0 means the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int

    /// Lets go of the file. Bytes not synced stay with the system.
    func close()
}

/// A file that one owner writes.
public protocol WritableFile: ReadableFile {
    /// Writes at an offset, growing the file as needed. Fewer bytes than given may be written, at least one.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int

    /// Cuts the file, or grows it with zeros.
    func resize(to size: UInt64) throws(StorageError)

    /// Makes content and length durable, as far as the level says. A failure says nothing about what was kept,
    /// and must not be repeated on this file.
    func sync(_ level: SyncLevel) throws(StorageError)
}

/// How far a sync reaches.
public enum SyncLevel: Sendable {
    /// Survives power loss.
    case durable
    /// Nothing written later becomes durable before it. Where the system has no such barrier, as `durable`.
    case ordered
}

/// A lock on a file, held by this process.
public protocol FileLock: AnyObject, Sendable {
    /// Whether this process took it: false in a forked child, which must not write.
    var isOwned: Bool { get }
    /// Whether its name still leads to the locked file, and the storage's path to the directory that holds it. If not,
    /// the files at the path may be another's.
    func isInPlace() throws(StorageError) -> Bool
    /// Writes a note into the locked file, for people who wonder who holds it.
    func note(_ text: String)
    /// Gives it up.
    func release()
}

/// A refusal by the system.
public struct StorageError: Error, Hashable, Sendable {
    /// What went wrong, as far as the log tells it apart.
    public enum Kind: Sendable {
        /// One of what storages say.
        case notFound, exists, permission, notADirectory, readOnly, diskFull, inputOutput, other
    }

    /// What went wrong.
    public var kind: Kind
    /// The call: "open", "read", "write", "sync" …
    public var operation: String
    /// The file, relative to the directory.
    public var name: String
    /// The system's error number.
    public var number: Int32
    /// The system's words.
    public var reason: String
    /// The byte of the file that was to be read or written, where that is known.
    public var offset: UInt64?

    /// Makes an error.
    public init(_ kind: Kind, operation: String, name: String, number: Int32, reason: String) {
        self.kind = kind
        self.operation = operation
        self.name = name
        self.number = number
        self.reason = reason
    }
}
