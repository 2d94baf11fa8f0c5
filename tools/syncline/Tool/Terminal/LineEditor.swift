// Edits a line: keys in, the line and the cursor out. The code is pure; a terminal draws the line.

struct LineEditor {
    enum Outcome: Hashable {
        case editing
        case entered(String)
        /// The line was cancelled.
        case cancelled
        /// There will be no more lines.
        case ended
        /// The possible completions of the word before the cursor, if there are several.
        case choices([String])
        case clearScreen
    }

    private(set) var text: [Character] = []
    private(set) var cursor = 0
    /// Lines entered before, oldest first.
    private(set) var history: [String]
    private var place: Int
    /// The line typed before the history was opened.
    private var draft: [Character] = []
    private var killed: [Character] = []
    /// Returns the completions of a line.
    private let complete: (String) -> [String]
    static let historyLimit = 1000

    init(history: [String] = [], complete: @escaping (String) -> [String] = { _ in [] }) {
        self.history = history
        place = history.count
        self.complete = complete
    }

    mutating func handle(_ key: Key) -> Outcome {
        switch key {
        case .character(let character): insert([character])
        case .enter: return enter()
        case .tab: return tab()
        case .backspace, .control("h"): erase(from: cursor - 1, to: cursor, keeps: false)
        case .delete: erase(from: cursor, to: cursor + 1, keeps: false)
        case .control("d"):
            if text.isEmpty { return .ended }
            erase(from: cursor, to: cursor + 1, keeps: false)
        case .control("c"):
            reset()
            return .cancelled
        case .control("l"): return .clearScreen
        case .left, .control("b"): cursor = max(0, cursor - 1)
        case .right, .control("f"): cursor = min(text.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = text.count
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .control("k"): erase(from: cursor, to: text.count, keeps: true)
        case .control("u"): erase(from: 0, to: cursor, keeps: true)
        case .control("w"): erase(from: wordStart, to: cursor, keeps: true)
        case .control("y"): insert(killed)
        case .up, .control("p"): recall(place - 1)
        case .down, .control("n"): recall(place + 1)
        case .control, .unknown: break
        }
        return .editing
    }

    private mutating func insert(_ characters: [Character]) {
        text.insert(contentsOf: characters, at: cursor)
        cursor += characters.count
    }

    private mutating func erase(from start: Int, to end: Int, keeps: Bool) {
        let range = max(0, start)..<max(0, min(end, text.count))
        guard range.lowerBound < range.upperBound else { return }
        if keeps { killed = Array(text[range]) }
        text.removeSubrange(range)
        cursor = range.lowerBound
    }

    private var wordStart: Int {
        var place = cursor
        while place > 0, text[place - 1] == " " { place -= 1 }
        while place > 0, text[place - 1] != " " { place -= 1 }
        return place
    }

    private var wordEnd: Int {
        var place = cursor
        while place < text.count, text[place] == " " { place += 1 }
        while place < text.count, text[place] != " " { place += 1 }
        return place
    }

    private mutating func enter() -> Outcome {
        let line = String(text)
        if !line.isEmpty, line != history.last { history = history.suffix(LineEditor.historyLimit - 1) + [line] }
        reset()
        return .entered(line)
    }

    private mutating func reset() {
        text = []
        cursor = 0
        place = history.count
    }

    private mutating func recall(_ wanted: Int) {
        guard (0...history.count).contains(wanted) else { return }
        if place == history.count { draft = text }
        place = wanted
        text = place == history.count ? draft : Array(history[place])
        cursor = text.count
    }

    private mutating func tab() -> Outcome {
        let line = String(text[..<cursor])
        let choices = complete(line)
        guard let first = choices.first else { return .editing }
        let word = line.split(separator: " ", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        var shared = first
        for choice in choices { while !choice.hasPrefix(shared) { shared.removeLast() } }
        insert(Array(shared.dropFirst(word.count)))
        if choices.count == 1 {
            insert([" "])
            return .editing
        }
        return shared.count > word.count ? .editing : .choices(choices)
    }
}
