// Data on its way out, in the form that was asked for. A command says what it has once, as JSON and as text; which of the
// two is written is decided here.

package import SynclineInspect

/// The form of what a command prints.
package enum OutputForm: Sendable {
    /// For people at a terminal.
    case human
    /// For a pipe: no colour, no cuts, exact numbers.
    case plain
    /// One JSON value.
    case json
    /// JSON, an element of a list a line.
    case jsonLines

    package var isText: Bool { self == .human || self == .plain }
}

package final class Output {
    package let form: OutputForm
    package let style: TextStyle
    private let sink: any Sink
    private var elements: Int?
    /// Whether something that was asked for could not be shown.
    private(set) var isIncomplete = false

    package init(_ sink: any Sink, form: OutputForm, style: TextStyle) {
        self.sink = sink
        self.form = form
        self.style = style
    }

    // MARK: Text

    /// Writes a line of text; a JSON reader does not get it.
    package func line(_ text: String = "") throws {
        if form.isText { try sink.write(text + "\n") }
    }

    /// Writes bytes as they are.
    package func raw(_ bytes: [UInt8]) throws {
        try sink.write(bytes: bytes)
    }

    // MARK: JSON

    /// Writes the one value that is the result; a person does not get it.
    package func value(_ json: @autoclosure () -> JSONValue) throws {
        if !form.isText { try sink.write(json().text + "\n") }
    }

    /// Begins a list; its elements follow.
    package func beginList() throws {
        elements = 0
        if form == .json { try sink.write("[") }
    }

    /// An element of the list.
    package func element(_ json: @autoclosure () -> JSONValue) throws {
        guard !form.isText, let count = elements else { return }
        let separator = form == .jsonLines ? "" : count == 0 ? "\n" : ",\n"
        elements = count + 1
        try sink.write(separator + json().text + (form == .jsonLines ? "\n" : ""))
    }

    package func endList() throws {
        guard let count = elements else { return }
        elements = nil
        if form == .json { try sink.write(count == 0 ? "]\n" : "\n]\n") }
    }

    /// Writes an error in the place of a result, or as the last element of a list that was begun.
    func fail(_ error: ToolError) throws {
        guard !form.isText else { return }
        if elements != nil {
            try element(error.json)
            try endList()
        } else {
            try value(error.json)
        }
    }

    /// Says that something that was asked for could not be shown.
    package func notePartial() { isIncomplete = true }

    /// Whether a list was begun that has elements.
    var isPartial: Bool { (elements ?? 0) > 0 }

    package func flush() throws {
        try sink.flush()
    }

    /// Whether nobody reads any more.
    package var isClosed: Bool { sink.isClosed }
}
