// Reads a command line of options and their values.

struct OptionReader {
    private var rest: ArraySlice<String>

    init(_ arguments: [String]) {
        rest = arguments[...]
    }

    mutating func next() -> String? { rest.popFirst() }

    /// - Throws: a sentence for the user.
    mutating func value(of option: String) throws -> String {
        guard let value = rest.popFirst() else { throw BenchError("\(option) needs a value.") }
        return value
    }

    /// - Throws: a sentence for the user.
    mutating func number(of option: String) throws -> Int {
        guard let number = Int(try value(of: option)), number > 0 else {
            throw BenchError("\(option) needs a number above 0.")
        }
        return number
    }
}
