// `mcp`: the questions about a store for an assistant, over standard input and output.

enum MCPCommand {
    static let command = Command(
        "mcp", "answer the questions of an assistant",
        details: [
            """
            It speaks the Model Context Protocol. Each answer has at most 2,048 bytes and names the next question; \
            docs/QUESTIONS.md shows how an assistant starts it.
            """
        ],
        options: [
            Option("write", "also offer to retry, discard, undo and restore changes"),
            Option("redact", "mask values, as `report` does"),
            Option("seconds", value: "N", "stop a question after N seconds (default: 60)"),
        ],
        examples: [Example("syncline mcp --store notes --redact", "started by an assistant")],
        result: "one message per line"
    ) { arguments, context in
        var store: [String] = []
        for name in ["store", "branch"] {
            if let value = arguments.value(name) { store += ["--\(name)", value] }
        }
        let assistant = Assistant(
            context.host, store: store, writes: arguments.flag("write"), isMasked: arguments.flag("redact"),
            seconds: try arguments.number("seconds", in: 1...86_400).map { Int($0) } ?? 60)
        try await AssistantSession(assistant, context.host.input, context.output).run()
        return .done
    }
}
