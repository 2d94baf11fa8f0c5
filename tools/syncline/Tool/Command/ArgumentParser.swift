// Turns the words of the command line into a command and its arguments. The code is pure: the same words give the same
// result. Options may come anywhere after the words that name the command; common options may also come before them.

import SynclineCore

package struct ArgumentParser {
    private let table: CommandTable
    private var words: ArraySlice<String>
    private var path: [String] = []
    private var command: Command?
    /// Common options that came before the command was known.
    private var early: [(Option, String?)] = []
    private var arguments: Arguments?
    private var onlyOperands = false

    private init(_ words: [String], _ table: CommandTable) {
        self.table = table
        self.words = words[...]
    }

    /// The request in the words.
    package enum Request: Sendable {
        case run(Arguments)
        /// `--help`, of the command or group these words name.
        case help([String])
        case version
    }

    package static func parse(_ words: [String], _ table: CommandTable = .all) throws(ToolError) -> Request {
        var parser = ArgumentParser(words, table)
        return try parser.parse()
    }

    private mutating func parse() throws(ToolError) -> Request {
        while let word = words.popFirst() {
            if onlyOperands || !ArgumentParser.isOption(word) {
                try take(word)
            } else if word == "--" {
                onlyOperands = true
            } else {
                try takeOption(word)
            }
        }
        if given("help") { return .help(path) }
        if given("version") { return .version }
        guard let arguments = try settle() else { return .help([]) }
        try checkOperands(arguments)
        try checkCombination(arguments)
        return .run(arguments)
    }

    private func given(_ name: String) -> Bool {
        early.contains { $0.0.name == name } || arguments?.flag(name) == true
    }

    // MARK: Words

    /// Whether a word is an option, or is meant as one. A negative number is a value, and so is an SQL statement that begins
    /// with a comment: no option has a digit or a space in its name.
    private static func isOption(_ word: String) -> Bool {
        guard word.utf8.first == UInt8(ascii: "-"), word != "-" else { return false }
        let rest = word.dropFirst().drop { $0 == "." }
        if let first = rest.first, first.isASCII, first.isNumber { return false }
        return !word.hasPrefix("--") || !word.prefix { $0 != "=" }.contains(where: \.isWhitespace)
    }

    /// A word that is not an option: part of the command's name as long as possible, then an operand.
    private mutating func take(_ word: String) throws(ToolError) {
        if !onlyOperands, arguments?.operands.isEmpty ?? true, table.words(after: path).contains(word) {
            path.append(word)
            command = table.command(path)
            var next = command.map { Arguments($0) }
            for (option, value) in early { next?.set(option, value) }
            arguments = next
            return
        }
        guard let command, let arguments, accepts(command, arguments) else { throw unknown(word) }
        self.arguments?.add(operand: word)
    }

    private func accepts(_ command: Command, _ arguments: Arguments) -> Bool {
        guard let last = command.operands.last else { return false }
        return last.repeats || arguments.operands.count < command.operands.count
    }

    private func unknown(_ word: String) -> ToolError {
        let known = table.words(after: path)
        let guess = Suggestion.nearest(to: word, in: known)
        if known.isEmpty {
            let name = command?.name ?? ""
            return .usage("`\(name)` does not accept the argument `\(escaped(word))`", hint: helpHint)
        }
        let subject = path.isEmpty ? "there is no command" : "`\(path.joined(separator: " "))` has no"
        let meant = guess.map { path + [$0] } ?? table.command(endingWith: word, after: path)
        let hint = meant.map { "Did you mean `\($0.joined(separator: " "))`?" }
        return .usage("\(subject) `\(escaped(word))`", hint: hint ?? helpHint)
    }

    private var helpHint: String {
        "Try `\((["syncline"] + path + ["--help"]).joined(separator: " "))`."
    }

    private func settle() throws(ToolError) -> Arguments? {
        if let arguments { return arguments }
        if path.isEmpty { return nil }
        let words = table.words(after: path).map { "`\($0)`" }.joined(separator: ", ")
        throw .usage("`\(path.joined(separator: " "))` needs a subcommand: \(words)", hint: helpHint)
    }

    // MARK: Options

    private var options: [Option] { (command?.options ?? []) + CommandTable.common }

    private mutating func takeOption(_ word: String) throws(ToolError) {
        if word.hasPrefix("--") {
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = options.first(where: { $0.name == name }) else { throw unknownOption("--\(name)") }
            try set(option, parts.count == 2 ? String(parts[1]) : nil)
        } else {
            try takeShortOptions(word.dropFirst())
        }
    }

    /// `-f`, `-n5`, `-n 5`, `-fn5`.
    private mutating func takeShortOptions(_ letters: Substring) throws(ToolError) {
        var letters = letters
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.short == letter }) else { throw unknownOption("-\(letter)") }
            if option.value != nil && !letters.isEmpty {
                return try set(option, String(letters))
            }
            try set(option, nil)
        }
    }

    private mutating func set(_ option: Option, _ given: String?) throws(ToolError) {
        var value = given
        if option.value == nil {
            if given != nil { throw .usage("--\(option.name) takes no value", hint: helpHint) }
        } else if value == nil {
            guard let next = words.popFirst() else {
                throw .usage("--\(option.name) needs a value: \(option.value ?? "")", hint: helpHint)
            }
            value = next
        }
        if let value { try check(value, of: "--\(option.name)", in: option.choices) }
        if CommandTable.common.contains(option) { early.append((option, value)) }
        arguments?.set(option, value)
    }

    /// Refuses a value that is not one of the choices, if there are any.
    private func check(_ value: String, of name: String, in choices: [String]) throws(ToolError) {
        guard !choices.isEmpty, !choices.contains(value) else { return }
        throw .usage(
            "\(name) can't be `\(escaped(value))`; choose one of \(choices.joined(separator: ", "))",
            hint: Suggestion.nearest(to: value, in: choices).map { "Did you mean `\($0)`?" })
    }

    private func unknownOption(_ word: String) -> ToolError {
        let name = path.isEmpty ? "syncline" : path.joined(separator: " ")
        let known = options.map { "--\($0.name)" } + options.compactMap { $0.short.map { "-\($0)" } }
        let guess = word.count > 2 ? Suggestion.nearest(to: word, in: known) : nil
        var hint = guess.map { "Did you mean `\($0)`?" } ?? helpHint
        if guess == nil, let command, let arguments, accepts(command, arguments) {
            hint = "Write `--` before a value that begins with `-`, or see `syncline \(name) --help`."
        }
        return .usage("`\(name)` has no option \(escaped(word))", hint: hint)
    }

    private func checkOperands(_ arguments: Arguments) throws(ToolError) {
        let declared = arguments.command.operands
        if let missing = declared.dropFirst(arguments.operands.count).first(where: \.isRequired) {
            throw .usage("`\(arguments.command.name)` needs \(missing.name): \(missing.summary)", hint: helpHint)
        }
        for (operand, word) in zip(declared, arguments.operands) {
            try check(word, of: operand.name, in: operand.choices)
        }
    }

    /// Refuses options that would have no effect with the other arguments.
    private func checkCombination(_ arguments: Arguments) throws(ToolError) {
        for option in arguments.command.options where arguments.has(option.name) {
            if !option.needs.isEmpty, !option.needs.contains(where: arguments.has) {
                let others = option.needs.map { "--\($0)" }.joined(separator: ", ")
                throw .usage(
                    "--\(option.name) has no effect without \(option.needs.count > 1 ? "one of " : "")\(others)",
                    hint: "Add \(option.needs.count > 1 ? "one of them" : others), or leave --\(option.name) out.")
            }
            if let other = option.excludes.first(where: arguments.has) {
                let named = arguments.command.options.contains { $0.name == other } ? "--\(other)" : other
                throw .usage(
                    "--\(option.name) has no effect with \(named)",
                    hint: "Leave one of them out, or call `\(arguments.command.name)` once with each.")
            }
        }
    }
}
