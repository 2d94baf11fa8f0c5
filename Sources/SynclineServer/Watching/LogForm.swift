// The form of the log's lines.

enum LogForm: String, Hashable, Sendable, CaseIterable {
    case text, json, none
}
