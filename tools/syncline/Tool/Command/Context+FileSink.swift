// Sends the output of a command into a file.

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
