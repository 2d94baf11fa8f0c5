// Reads the words, numbers, strings and symbols of a filter or an order from the front.

struct FilterScanner {
    private let text: [Character]
    private var index = 0
    /// What the text is, for errors.
    private let subject: String

    /// The maximum length of a filter, which limits the cost of a hostile one.
    static let lengthLimit = 1 << 20

    init(_ text: String, as subject: String = "filter") throws(FilterError) {
        guard text.utf8.count <= FilterScanner.lengthLimit else {
            throw FilterError(position: 0, message: "the \(subject) is longer than \(FilterScanner.lengthLimit) bytes")
        }
        self.subject = subject
        self.text = text.flatMap(FilterScanner.signs)
        skipSpaces()
    }

    /// A quotation mark and the accents after it are one character in Swift, but two signs of a filter.
    private static func signs(of character: Character) -> [Character] {
        let scalars = character.unicodeScalars
        guard scalars.first == "'", scalars.count > 1 else { return [character] }
        return ["'"] + String(String.UnicodeScalarView(scalars.dropFirst()))
    }

    var position: Int { index }
    var isAtEnd: Bool { index == text.count }

    func error(_ message: String, at position: Int? = nil) -> FilterError {
        FilterError(position: position ?? index, message: message)
    }

    func unexpected() -> FilterError {
        guard index < text.count else { return error("the \(subject) ends too early") }
        let isPlain = text[index].unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
        return error(isPlain ? "unexpected '\(text[index])'" : "unexpected control character")
    }

    private mutating func skipSpaces() {
        while index < text.count, text[index].isWhitespace { index += 1 }
    }

    // MARK: Signs and words

    func isNext(_ sign: Character) -> Bool { index < text.count && text[index] == sign }

    mutating func skip(_ sign: Character) -> Bool {
        guard isNext(sign) else { return false }
        index += 1
        skipSpaces()
        return true
    }

    /// Skips `=` or `==`.
    mutating func skipEqualSign() -> Bool {
        guard isNext("=") else { return false }
        index += 1
        if isNext("=") { index += 1 }
        skipSpaces()
        return true
    }

    mutating func expect(_ sign: Character) throws(FilterError) {
        guard skip(sign) else {
            throw isAtEnd
                ? error("'\(sign)' is missing at the end") : error("'\(sign)' expected instead of '\(text[index])'")
        }
    }

    mutating func skip(word: String) -> Bool {
        let end = endOfName()
        guard end - index == word.count, text[index..<end].elementsEqual(word) else { return false }
        index = end
        skipSpaces()
        return true
    }

    mutating func name() -> String? {
        let end = endOfName()
        guard end > index else { return nil }
        defer {
            index = end
            skipSpaces()
        }
        return String(text[index..<end])
    }

    private func endOfName() -> Int {
        guard index < text.count, FilterScanner.startsName(text[index]) else { return index }
        var end = index + 1
        while end < text.count,
            FilterScanner.startsName(text[end]) || FilterScanner.isDigit(text[end]) || text[end] == "-"
        {
            end += 1
        }
        return end
    }

    private static func startsName(_ character: Character) -> Bool {
        character == "_" || character == "@" || character.isLetter
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

    /// Returns the text up to a symbol, without surrounding spaces.
    mutating func raw(until sign: Character) -> String {
        let start = index
        while index < text.count, text[index] != sign { index += 1 }
        var end = index
        while end > start, text[end - 1].isWhitespace { end -= 1 }
        return String(text[start..<end])
    }

    // MARK: Literals

    /// Reads a string in single quotes; a quote inside is doubled.
    mutating func quoted() throws(FilterError) -> String? {
        guard isNext("'") else { return nil }
        let start = index
        index += 1
        var value = ""
        while index < text.count {
            let character = text[index]
            index += 1
            if character != "'" {
                value.append(character)
            } else if isNext("'") {
                value.append("'")
                index += 1
            } else {
                skipSpaces()
                return value
            }
        }
        throw error("the string is not closed", at: start)
    }

    /// Reads OData 4's dates and times without quotes, which begin like a number.
    mutating func bareDateOrTime() -> FilterExpression? {
        guard index < text.count, FilterScanner.isDigit(text[index]) else { return nil }
        var end = index
        while end < text.count, FilterScanner.isDigit(text[end]) || "-:.TZ+".contains(text[end]) { end += 1 }
        let run = String(text[index..<end])
        let literal: FilterExpression
        if let date = Timestamp(anyForm: run) {
            literal = .literal(.date(date))
        } else if FilterScanner.isTime(run) {
            literal = .literal(.string(run), form: .time)
        } else {
            return nil
        }
        index = end
        skipSpaces()
        return literal
    }

    static func isTime(_ text: String) -> Bool {
        guard let date = Timestamp("2000-01-01T" + text) else { return false }
        return date.zone == .none
    }

    /// Reads an integer or a real number, with the suffix letter either protocol allows.
    mutating func number(isNegative: Bool) throws(FilterError) -> Value? {
        guard index < text.count, FilterScanner.isDigit(text[index]) else { return nil }
        let start = index
        skipDigits()
        var isReal = false
        if isNext(".") {
            index += 1
            isReal = true
            guard skipDigits() else { throw error("digits are missing after the point") }
        }
        if isNext("e") || isNext("E") {
            index += 1
            isReal = true
            if isNext("-") || isNext("+") { index += 1 }
            guard skipDigits() else { throw error("the exponent has no digits") }
        }
        let digits = (isNegative ? "-" : "") + String(text[start..<index])
        if index < text.count, "fFmMdD".contains(text[index]) {
            index += 1
            isReal = true
        } else if !isReal, isNext("L") || isNext("l") {
            index += 1
        }
        guard endOfName() == index else { throw unexpected() }
        skipSpaces()
        if !isReal, let integer = Int64(digits) { return .integer(integer) }
        // The spelling of a double does not matter here, but its digits do.
        if isReal, let double = Double(digits), double.isFinite, NumberDigits(shortest: double) == NumberDigits(digits)
        {
            return .double(double)
        }
        guard let number = Value(number: digits) else { throw error("the number is too large", at: start) }
        return number
    }

    @discardableResult
    private mutating func skipDigits() -> Bool {
        let start = index
        while index < text.count, FilterScanner.isDigit(text[index]) { index += 1 }
        return index > start
    }
}
