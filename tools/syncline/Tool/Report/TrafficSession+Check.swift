// The commands of a report that may be run again.

extension TrafficSession {
    /// Throws unless the words are what `recorded` writes: a push, a pull or a sync with options of its own, operands
    /// after `--`. A report may come from anywhere, so its words must reach no other command and no other store.
    func check() throws(ToolError) {
        guard
            let command = [SyncCommands.push, SyncCommands.pull, SyncCommands.sync].first(where: {
                $0.path == Array(words.prefix(1))
            })
        else { throw refused(words.first ?? "nothing") }
        var rest = words.dropFirst()
        while let word = rest.popFirst(), word != "--" {
            guard word != "--watch", let option = command.options.first(where: { word == "--\($0.name)" }),
                option.value == nil || rest.popFirst() != nil
            else { throw refused(word) }
        }
    }

    private func refused(_ word: String) -> ToolError {
        ToolError(
            "invalid-item", "the report asks to run `\(escaped(word))`",
            hint: "Only push, pull and sync are run again. Do not trust this file.")
    }
}
