// Writes data in the requested form. A command passes its data once, as JSON and as text; this type decides which of
// the two is written.

/// The form of the output.
package enum OutputForm: Sendable {
    /// For people at a terminal.
    case human
    /// For a pipe: no colour, nothing shortened, exact numbers.
    case plain
    /// One JSON value.
    case json
    /// JSON Lines, one element of a list per line.
    case jsonLines

    package var isText: Bool { self == .human || self == .plain }
}

/// An element of a list whose text exists already, as another thread has written it.
struct EncodedElement: Sendable {
    let bytes: [UInt8]
    /// Its value, if somebody watches.
    let value: JSONValue?

    init(_ value: JSONValue, keepsValue: Bool = true) {
        bytes = value.utf8
        self.value = keepsValue ? value : nil
    }
}

package final class Output {
    package let form: OutputForm
    package let style: TextStyle
    private let sink: any Sink
    /// Also gets each value and element.
    private let watched: WatchedValues?
    private var elements: Int?
    private var lines = 0
    /// How many lines there were when the list began.
    private var linesBefore = 0
    /// Whether a list for people had nothing in it.
    private(set) var hasShownNothing = false
    /// Whether something that was asked for could not be shown.
    private(set) var isIncomplete = false

    package init(_ sink: any Sink, form: OutputForm, style: TextStyle, watched: WatchedValues? = nil) {
        self.sink = sink
        self.form = form
        self.style = style
        self.watched = watched
    }

    // MARK: Text

    /// Writes a line of text; ignored for JSON.
    package func line(_ text: String = "") throws {
        guard form.isText else { return }
        lines += 1
        try sink.write(text + "\n")
    }

    /// Writes bytes unchanged.
    package func raw(_ bytes: [UInt8]) throws {
        try sink.write(bytes: bytes)
    }

    // MARK: JSON

    /// Writes the only value of the result; ignored for text.
    package func value(_ json: @autoclosure () -> JSONValue) throws {
        watched?.add(json())
        if !form.isText { try sink.write(json().text + "\n") }
    }

    /// Writes a result: a value for programs, and lines for people.
    func result(
        _ json: @autoclosure () -> JSONValue, _ line: String? = nil, lines: [String] = [], exit: ExitCode = .done
    ) throws -> ExitCode {
        try value(json())
        for line in (line.map { [$0] } ?? []) + lines { try self.line(line) }
        return exit
    }

    /// Whether somebody gets the values, too.
    var isWatched: Bool { watched != nil }

    /// Begins a list; its elements follow. Nothing is written before the first one, so that an error in its place is the
    /// whole result.
    package func beginList() throws {
        elements = 0
        linesBefore = lines
    }

    /// An element of the list.
    package func element(_ json: @autoclosure () -> JSONValue) throws {
        watched?.add(json())
        if !form.isText { try element(bytes: json().utf8) }
    }

    /// An element that is also a line of text.
    func elementAndLine(_ element: EncodedElement) throws {
        if let value = element.value { watched?.add(value) }
        guard form.isText else { return try self.element(bytes: element.bytes) }
        lines += 1
        try sink.write(bytes: element.bytes)
        try sink.write("\n")
    }

    private func element(bytes: [UInt8]) throws {
        guard let count = elements else { return }
        let separator = form == .jsonLines ? "" : count == 0 ? "[\n" : ",\n"
        elements = count + 1
        try sink.write(separator)
        try sink.write(bytes: bytes)
        if form == .jsonLines { try sink.write("\n") }
    }

    package func endList() throws {
        guard let count = elements else { return }
        elements = nil
        if form == .human, lines == linesBefore { hasShownNothing = true }
        if form == .json { try sink.write(count == 0 ? "[]\n" : "\n]\n") }
    }

    /// Writes an error instead of a result, or as the last element of an unfinished list.
    func fail(_ error: ToolError) throws {
        guard !form.isText else {
            watched?.add(error.json)
            return
        }
        if isPartial {
            try element(error.json)
            try endList()
        } else {
            elements = nil
            try value(error.json)
        }
    }

    /// Notes that part of the answer could not be shown.
    package func notePartial() { isIncomplete = true }

    /// Whether an unfinished list has elements.
    var isPartial: Bool { (elements ?? 0) > 0 }

    package func flush() throws {
        try sink.flush()
    }

    /// Whether the reader of the output is gone.
    package var isClosed: Bool { sink.isClosed }
}
