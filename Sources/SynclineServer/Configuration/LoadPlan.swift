// What `syncline-server load` sends, and for how long, as the command line asks for it.

import SynclineCore
import SynclineTables
import SynclineWire

struct LoadPlan: Hashable, Sendable {
    /// The server, without a slash at the end.
    var url: String
    /// The path of the tables below it.
    var root = "/tables"
    var table: String
    var token: String?
    /// The clients that write, read, and hold an event stream.
    var (writers, readers, listeners) = (4, 4, 4)
    /// The writes of one request.
    var batch = 1
    /// The members of each row, besides its id.
    var item: [Value.Member] = []
    /// It ends after this many seconds, or measured requests, whichever comes first.
    var seconds: Int?
    var requests: Int?
    /// The seconds before anything is measured.
    var warmUp = 1
    /// Whether the rows stay.
    var keeps = false
    var isJSON = false

    static let operand = (name: "URL", summary: "the server, such as https://tables.example.org")

    static let flags = [
        ServerArguments.Flag(name: "table", value: "NAME", summary: "the table that gets rows, and loses them again"),
        .init(name: "token", value: "TOKEN", summary: "token of the clients: literal, file:PATH or env:NAME"),
        .init(name: "writers", value: "N", summary: "clients that insert and update rows (default: 4)"),
        .init(name: "readers", value: "N", summary: "clients that read rows and pages of changes (default: 4)"),
        .init(name: "listeners", value: "N", summary: "clients that listen for changes (default: 4)"),
        .init(name: "batch", value: "N", summary: "writes in a request (default: 1)"),
        .init(
            name: "item", value: "JSON", summary: "a row, such as {\"text\":\"milk {n}\"}; {n}: a number (default: {})"),
        .init(name: "seconds", value: "N", summary: "how long to measure (default: 10)"),
        .init(name: "requests", value: "N", summary: "how many requests to measure"),
        .init(name: "warm-up", value: "N", summary: "seconds before that (default: 1)"),
        .init(name: "root", value: "PATH", summary: "path of the tables (default: /tables)"),
        .init(name: "keep", value: nil, summary: "do not remove the rows"),
        .init(name: "json", value: nil, summary: "print an object per line"),
    ]

    /// - Parameters:
    ///   - values: The values of flags that have one.
    ///   - secret: Reads a secret from the place where it is stored.
    init(
        _ url: String?, _ given: Set<String>, _ values: [String: String], secret: (String) throws -> [UInt8]
    ) throws {
        guard let url else { throw UsageFailure(message: "load needs the server's URL") }
        do throws(SyncError) {
            self.url = try BaseURL.check(url)
        } catch {
            throw UsageFailure(message: error.message, hint: error.hint)
        }
        guard let table = values["table"], !table.isEmpty else {
            throw UsageFailure(message: "load needs --table NAME", hint: "It inserts rows there, and removes them")
        }
        self.table = table
        token = try values["token"].map { String(decoding: try secret($0), as: UTF8.self) }
        if let token, token.isEmpty || token.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7f }) {
            throw UsageFailure(message: "--token is not a token")
        }
        func number(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
            guard let text = values[name] else { return nil }
            guard let number = Int(text), range.contains(number) else {
                throw UsageFailure(message: "--\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        writers = try number("writers", 0...10_000) ?? writers
        readers = try number("readers", 0...10_000) ?? readers
        listeners = try number("listeners", 0...10_000) ?? listeners
        if writers + readers == 0 { throw UsageFailure(message: "a load needs a writer or a reader") }
        batch = try number("batch", 1...10_000) ?? batch
        requests = try number("requests", 1...1_000_000_000)
        seconds = try number("seconds", 1...1_000_000) ?? (requests == nil ? 10 : nil)
        warmUp = try number("warm-up", 0...1_000_000) ?? warmUp
        if let item = values["item"] { self.item = try LoadPlan.members(item) }
        if let root = values["root"] {
            guard root.hasPrefix("/") else { throw UsageFailure(message: "--root begins with a slash") }
            self.root = String(root.reversed().drop { $0 == "/" }.reversed())
        }
        (keeps, isJSON) = (given.contains("keep"), given.contains("json"))
    }

    private static func members(_ text: String) throws -> [Value.Member] {
        guard case .object(let members)? = try? Value(json: text.utf8, refusesDuplicates: true) else {
            throw UsageFailure(message: "--item takes a JSON object", hint: "Write it as {\"text\":\"milk\"}")
        }
        if let own = members.first(where: { SystemColumn(anyCase: $0.name) != nil }) {
            throw UsageFailure(message: "--item can't have \(own.name): the load or the server sets it")
        }
        return members
    }
}
