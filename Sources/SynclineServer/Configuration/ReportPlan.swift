// What the report of a server shows, as the command line asks for it.

import SynclineCore
import SynclineReports

struct ReportPlan: Hashable, Sendable {
    /// The span in milliseconds since 1970; nil: the day before its end, and now.
    var from: Int64?
    var to: Int64?
    /// The file with the log, or `-` for standard input.
    var accessLog: String?
    /// Nil to mask nothing.
    var masks: Masking.Options? = .init()

    static let flags = [
        ServerArguments.Flag(name: "from", value: "TIME", summary: "the beginning (default: a day before the end)"),
        .init(name: "to", value: "TIME", summary: "the end (default: now)"),
        .init(name: "access-log", value: "FILE", summary: "the server's log, in either form; -: standard input"),
        .init(name: "key", value: "FILE", summary: "make masks with a key, so that reports with it agree"),
        .init(name: "no-mask", value: nil, summary: "do not mask values"),
        .init(name: "mask-ids", value: nil, summary: "also mask the ids of rows"),
        .init(name: "mask-names", value: nil, summary: "also mask the names of tables and columns"),
    ]

    /// - Parameters:
    ///   - values: The values of flags that have one.
    ///   - file: Reads a whole file.
    init(_ given: Set<String>, _ values: [String: String], file: (String) throws -> [UInt8]) throws {
        from = try ReportPlan.time(values["from"], "from")
        to = try ReportPlan.time(values["to"], "to")
        if let from, let to, from > to { throw UsageFailure(message: "--from is after --to") }
        accessLog = values["access-log"]
        var options = Masking.Options()
        (options.ids, options.names) = (given.contains("mask-ids"), given.contains("mask-names"))
        if let path = values["key"] {
            let text = String(decoding: try file(path), as: UTF8.self)
            guard let line = text.split(whereSeparator: \.isNewline).first, let key = MaskKey(String(line)) else {
                throw UsageFailure(
                    message: "\(path) holds no key of 32 hexadecimal digits", hint: "openssl rand -hex 16 makes one")
            }
            options.key = key
        }
        masks = options
        if given.contains("no-mask") {
            guard options == Masking.Options() else {
                throw UsageFailure(message: "--no-mask can't be used with --mask-ids, --mask-names or --key")
            }
            masks = nil
        }
    }

    private static func time(_ text: String?, _ flag: String) throws -> Int64? {
        guard let text else { return nil }
        guard let time = Timestamp(text) else {
            throw UsageFailure(message: "--\(flag) takes a time such as 2026-05-19T21:30:00Z")
        }
        return time.instant.milliseconds
    }
}
