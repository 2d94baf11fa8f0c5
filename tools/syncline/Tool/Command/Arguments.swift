// The arguments of a call, checked against the command's own declaration. A command that reads an option that it does
// not declare has a bug, and stops.

/// The options and operands of one call.
package struct Arguments: Sendable {
    package let command: Command
    /// The values of an option, in the order they were given.
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []
    package private(set) var operands: [String] = []

    package init(_ command: Command) {
        self.command = command
    }

    mutating func set(_ option: Option, _ value: String?) {
        if let value { values[option.name, default: []].append(value) } else { flags.insert(option.name) }
    }

    mutating func add(operand: String) {
        operands.append(operand)
    }

    /// The words of the call, without the options that every command takes.
    package var words: [String] {
        var words = command.path
        for option in command.options {
            if flags.contains(option.name) { words.append("--\(option.name)") }
            for value in values[option.name] ?? [] { words += ["--\(option.name)", value] }
        }
        return words + (operands.isEmpty ? [] : ["--"] + operands)
    }

    private func check(_ name: String) {
        precondition(
            (command.options + CommandTable.common).contains { $0.name == name },
            "`\(command.name)` reads --\(name), but does not declare it")
    }

    /// Whether an option without a value was given.
    package func flag(_ name: String) -> Bool {
        check(name)
        return flags.contains(name)
    }

    /// The value of an option; the last one if it was given several times.
    package func value(_ name: String) -> String? {
        values(of: name).last
    }

    /// The values of an option that can be repeated.
    package func values(of name: String) -> [String] {
        check(name)
        return values[name] ?? []
    }

    /// Whether an option, or an operand by its name, was given.
    func has(_ name: String) -> Bool {
        if let place = command.operands.firstIndex(where: { $0.name == name }) { return operands.count > place }
        return flags.contains(name) || values[name] != nil
    }

    /// The same call without an option that has no value.
    func without(_ flag: String) -> Arguments {
        var other = self
        other.flags.remove(flag)
        return other
    }

    /// The store, if a command chooses it itself.
    mutating func setStore(_ path: String) {
        values["store"] = [path]
    }

    /// The value of an option that is a number.
    package func number(_ name: String, in range: ClosedRange<UInt64> = 1...UInt64(Int.max)) throws(ToolError)
        -> UInt64?
    {
        guard let text = value(name) else { return nil }
        guard let number = UInt64(text), range.contains(number) else {
            let bounds =
                range.upperBound == UInt64(Int.max)
                ? "from \(range.lowerBound) on" : "\(range.lowerBound) to \(range.upperBound)"
            throw .usage("--\(name) takes a number, \(bounds), not `\(escaped(text))`")
        }
        return number
    }

    /// The value of an option that is an address.
    package func address(_ name: String) throws(ToolError) -> Address? {
        guard let text = value(name) else { return nil }
        return try Arguments.address(text)
    }

    /// An operand that is an address.
    package func address(at index: Int) throws(ToolError) -> Address? {
        guard index < operands.count else { return nil }
        return try Arguments.address(operands[index])
    }

    private static func address(_ text: String) throws(ToolError) -> Address {
        guard let address = Address(text) else {
            throw .usage(
                "`\(escaped(text))` is not a valid address",
                hint: "Write @41, @41..57, @-1 (the last), s7, s7:5209663 or c40:4096.")
        }
        return address
    }
}
