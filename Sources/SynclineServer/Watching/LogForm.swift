// How the lines of the log are written.

enum LogForm: String, Hashable, Sendable, CaseIterable {
    case text, json, none
}
