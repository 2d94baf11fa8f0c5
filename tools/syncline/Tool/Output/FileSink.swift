// Output that goes into a file, which gets its name when all of it is there.

final class FileSink: Sink {
    private var draft: FileDraft

    init(_ path: String) throws { draft = try FileDraft(path) }

    func write(_ text: String) throws { try draft.write(Array(text.utf8)) }

    func write(bytes: [UInt8]) throws { try draft.write(bytes) }

    func flush() {}

    var isClosed: Bool { false }

    /// Gives the file its name, durably.
    func finish() throws { try draft.finish() }

    /// Leaves nothing behind.
    func giveUp() { draft.giveUp() }
}

extension Context {
    /// Runs a command with its output in a file.
    func writing(
        to path: String, _ body: (Context) async throws -> ExitCode
    ) async throws -> ExitCode {
        let sink = try FileSink(path)
        var context = self
        let form = output.form == .human ? .plain : output.form
        context.output = Output(sink, form: form, style: TextStyle(isForPeople: false, hasColour: false))
        do {
            let exit = try await body(context)
            if context.output.isIncomplete { output.notePartial() }
            try sink.finish()
            return exit
        } catch {
            sink.giveUp()
            throw error
        }
    }
}
