// A question of an assistant: a name, what it takes, and the command line that answers it. Pure.

struct Question: Sendable {
    var name: String
    /// What it answers, for the one who chooses among the questions.
    var summary: String
    /// The command, with the options that are always given.
    var command: [String]
    var parameters: [Parameter] = []
    var shows = Form.text
    var kept = AnswerText.Kept.first
    /// How more than fits can be seen.
    var rest: String
    var masking = Masking.report
    var writes = false

    struct Parameter: Sendable {
        var name: String
        var summary: String
        /// Where it stands in the command line: an option by its name, or an operand.
        var option: String?
        var isRequired = false
        var kind = Kind.text
        /// What is taken if it is not given.
        var fallback: String?

        enum Kind: Sendable {
            case text
            /// The number of an event: `@41`.
            case event
            case count
        }

        static func operand(_ name: String, _ summary: String, isRequired: Bool = true, _ kind: Kind = .text) -> Self {
            Self(name: name, summary: summary, isRequired: isRequired, kind: kind)
        }

        static func option(
            _ name: String, _ summary: String, of option: String? = nil, isRequired: Bool = false, _ kind: Kind = .text,
            fallback: String? = nil
        ) -> Self {
            Self(
                name: name, summary: summary, option: option ?? name, isRequired: isRequired, kind: kind,
                fallback: fallback)
        }
    }

    /// How the answer is written.
    enum Form: Sendable {
        case text
        /// Each value as JSON on a line: rows of a store are always within quotes.
        case values
    }

    /// How it is answered if values are masked.
    enum Masking: Sendable {
        /// From a masked report of the store.
        case report
        /// From the store, because the answer has no values.
        case none
        /// Not at all, because the answer comes from the server.
        case refused
    }

    var json: JSONValue {
        let kinds = parameters.map { parameter -> JSONValue.Member in
            let type: JSONValue = parameter.kind == .count ? "integer" : "string"
            return .init(key: parameter.name, value: ["type": type, "description": .string(parameter.summary)])
        }
        return [
            "name": .string(name), "description": .string(summary),
            "inputSchema": [
                "type": "object", "properties": .object(kinds),
                "required": .array(parameters.filter(\.isRequired).map { .string($0.name) }),
                "additionalProperties": .boolean(false),
            ],
            "annotations": ["readOnlyHint": .boolean(!writes), "openWorldHint": .boolean(masking == .refused)],
        ]
    }

    /// The command line. An argument never becomes an option or a path.
    func words(_ arguments: [JSONValue.Member]) throws(ToolError) -> [String] {
        let known = parameters.map(\.name)
        if let other = arguments.first(where: { !known.contains($0.key) }) {
            throw .usage(
                "`\(name)` does not take \(JSONValue.string(other.key).shortened.text)",
                hint: known.isEmpty ? "It takes nothing." : "It takes \(known.joined(separator: ", ")).")
        }
        var (options, operands) = (command, [String]())
        for parameter in parameters {
            let given = arguments.last { $0.key == parameter.name }?.value
            guard let word = try parameter.word(given, name) else { continue }
            if let option = parameter.option { options.append("--\(option)=\(word)") } else { operands.append(word) }
        }
        return options + (operands.isEmpty ? [] : ["--"] + operands)
    }
}

extension Question.Parameter {
    fileprivate func word(_ given: JSONValue?, _ question: String) throws(ToolError) -> String? {
        switch (given, kind) {
        case (nil, _), (.null?, _):
            if isRequired { throw .usage("`\(question)` needs \(name): \(summary)") }
            return fallback
        case (.numeral(let text)?, .count): return text
        case (.string(let text)?, .text): return text
        case (.string(let text)?, .event):
            guard case .records? = Address(text), !text.contains("..") else { break }
            return text
        default: break
        }
        let form = kind == .count ? "a number" : kind == .event ? "an event, as @41 or @-1" : "a string"
        throw .usage("\(name) of `\(question)` must be \(form)")
    }
}
