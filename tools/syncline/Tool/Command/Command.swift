// A command: a value in one table, from which the parser, `--help`, the man page, the completions and the reference
// page are made. A command reads and writes only through its context, so it runs in a shell, too.

/// One command.
package struct Command: Sendable {
    /// The words that name it: `inspect frames`.
    package var path: [String]
    /// Its purpose in one line.
    package var summary: String
    /// Paragraphs with more about it.
    package var details: [String]
    package var operands: [Operand]
    package var options: [Option]
    package var examples: [Example]
    /// The output of `--json`.
    package var result: String?
    /// The meaning of its exit codes, if it differs from the usual one.
    package var exits: [Exit]
    package var run: @Sendable (Arguments, Context) async throws -> ExitCode

    package init(
        _ path: String, _ summary: String, details: [String] = [], operands: [Operand] = [], options: [Option] = [],
        examples: [Example] = [], result: String? = nil, exits: [Exit] = [],
        run: @escaping @Sendable (Arguments, Context) async throws -> ExitCode
    ) {
        self.path = path.split(separator: " ").map(String.init)
        self.summary = summary
        self.details = details
        self.operands = operands
        self.options = options
        self.examples = examples
        self.result = result
        self.exits = exits
        self.run = run
    }

    package var name: String { path.joined(separator: " ") }
}

/// An argument without dashes, known by its position.
package struct Operand: Hashable, Sendable {
    package var name: String
    package var summary: String
    package var isRequired: Bool
    /// The allowed words; empty if any word is allowed.
    package var choices: [String]
    /// Whether it can be repeated.
    package var repeats: Bool
    package var takesDirectory: Bool
    /// By its name, as in an option.
    package var takesFile: Bool { name == "FILE" }

    package init(
        _ name: String, _ summary: String, isRequired: Bool = false, choices: [String] = [], repeats: Bool = false,
        takesDirectory: Bool = false
    ) {
        self.name = name
        self.summary = summary
        self.isRequired = isRequired
        self.choices = choices
        self.repeats = repeats
        self.takesDirectory = takesDirectory
    }
}

/// An argument with dashes.
package struct Option: Hashable, Sendable {
    /// Without its dashes.
    package var name: String
    package var short: Character?
    /// The name of its value; nil if it takes none.
    package var value: String?
    package var summary: String
    /// The allowed values; empty if any value is allowed.
    package var choices: [String]
    package var takesDirectory: Bool
    package var takesFile: Bool { value == "FILE" }
    /// Options of which at least one must be given for this one to have an effect.
    package var needs: [String] = []
    /// Options and operands with which this one has no effect.
    package var excludes: [String] = []
    /// Whether a command with it runs until it is interrupted.
    package var isEndless = false

    package init(
        _ name: String, short: Character? = nil, value: String? = nil, choices: [String] = [],
        takesDirectory: Bool = false, _ summary: String
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.summary = summary
        self.choices = choices
        self.takesDirectory = takesDirectory
    }

    /// The same option, which has an effect only with one of the others.
    package func needing(_ others: String...) -> Option {
        var option = self
        option.needs = others
        return option
    }

    /// The same option, which has no effect with the others.
    package func excluding(_ others: String...) -> Option {
        var option = self
        option.excludes = others
        return option
    }

    /// The same option, with which a command runs until it is interrupted.
    package var endless: Option {
        var option = self
        option.isEndless = true
        return option
    }

    /// `-n, --limit N`
    package var usage: String {
        (short.map { "-\($0), " } ?? "") + "--\(name)" + (value.map { " \($0)" } ?? "")
    }
}

/// A useful command line.
package struct Example: Hashable, Sendable {
    package var line: String
    package var summary: String

    package init(_ line: String, _ summary: String) {
        self.line = line
        self.summary = summary
    }
}

/// The meaning of an exit code.
package struct Exit: Hashable, Sendable {
    package var code: ExitCode
    package var meaning: String

    package init(_ code: ExitCode, _ meaning: String) {
        self.code = code
        self.meaning = meaning
    }
}
