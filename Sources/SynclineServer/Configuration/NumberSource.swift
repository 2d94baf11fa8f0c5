// The source of change numbers and times: a locked row, in which all writers stand in line, or a sequence with ticks.

enum NumberSource: String, CaseIterable, Sendable {
    case line
    /// PostgreSQL only.
    case ticks
}
