// Output that goes into a file, which gets its name when all of it is there.

final class FileSink: Sink {
    private var draft: FileDraft

    init(_ path: String) throws { draft = try FileDraft(path) }

    func write(bytes: [UInt8]) throws { try draft.write(bytes) }

    func flush() {}

    var isClosed: Bool { false }

    /// Gives the file its name, durably.
    func finish() throws { try draft.finish() }

    /// Removes the unfinished file.
    func giveUp() { draft.giveUp() }
}
