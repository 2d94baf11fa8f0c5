// Turns the command line into a configuration: flags override the file. The code is pure except for the functions that
// it is given.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// The command that the command line requests.
enum ServerCommand: Hashable, Sendable {
    case serve(ServerConfiguration)
    case check(ServerConfiguration)
    case printConfiguration(ServerConfiguration)
    case dropColumn(ColumnName, ServerConfiguration)
    case number(table: String, ServerConfiguration)
    case report(ReportPlan, ServerConfiguration)
    case load(LoadPlan)
    case help
    case version
}

/// A column of a table, written `TABLE.COLUMN`.
struct ColumnName: Hashable, Sendable {
    let table: String
    let column: String

    init?(_ text: String) {
        let sides = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard sides.count == 2, !sides.contains("") else { return nil }
        (table, column) = (sides[0], sides[1])
    }
}

/// An error in the command line itself.
struct UsageFailure: Error, Hashable, Sendable {
    var message: String
    var hint: String?
}

package struct ServerArguments {
    package struct Flag: Hashable, Sendable {
        package let name: String
        package let value: String?
        /// The allowed values; empty if any value is allowed.
        package var choices: [String] = []
        package let summary: String
    }

    package static let purpose = "serve tables over the Azure Mobile Apps 2.0 and Datasync 3.0 protocols"

    package static let flags = [
        Flag(name: "store", value: "STORE", summary: "sqlite:FILE or postgres://… (default: sqlite:syncline.db)"),
        Flag(
            name: "listen", value: "HOST:PORT",
            summary: "address to listen on; port 0: any free port (default: 127.0.0.1:8080)"),
        Flag(
            name: "table", value: "NAME[:OPTIONS]",
            summary: "a table to serve, such as entry:softDelete=false,columns=text/string+amount/decimal+due/date"),
        Flag(name: "config", value: "FILE", summary: "a configuration as JSON; flags take precedence"),
        Flag(name: "auth-key", value: "KEY", summary: "token key: literal, hex:…, base64:…, file:PATH or env:NAME"),
        Flag(name: "tls-cert", value: "FILE", summary: "the TLS certificate as PEM"),
        Flag(name: "tls-key", value: "FILE", summary: "the key of the certificate as PEM"),
        Flag(
            name: "log", value: "FORM", choices: LogForm.allCases.map(\.rawValue),
            summary: "log format (default: text)"),
        Flag(name: "set", value: "MEMBER=JSON", summary: "any other setting, such as limits.bodyBytes=65536"),
        Flag(
            name: "new-epoch", value: nil,
            summary: "after restoring a backup: forces clients to re-read everything"),
        Flag(
            name: "drop-column", value: "TABLE.COLUMN",
            summary: "remove a column with its values, then exit; servers may be running"),
        Flag(
            name: "number", value: "TABLE",
            summary: "give rows without a usable number a new one, then exit; servers may be running"),
        Flag(
            name: "tenant", value: "NAME",
            summary: "the tenant for --new-epoch, --drop-column, --number, check or report"),
        Flag(name: "print-config", value: nil, summary: "print the effective configuration, without keys"),
        Flag(name: "help", value: nil, summary: "explain the command"),
        Flag(name: "version", value: nil, summary: "print the version"),
    ]

    /// The word in front of the flags that asks for a look instead of a start.
    package static let check = (
        word: "check", summary: "look at the configuration, the database and its tables; change nothing"
    )

    /// The same for one that writes a report, with flags of its own.
    package static let report = (
        word: "report", summary: "write a report of rows, changes and requests to standard output; change nothing",
        flags: ReportPlan.flags
    )

    /// The same for one that is a client.
    package static let load = (
        word: "load", summary: "send requests to a running server, and measure it", flags: LoadPlan.flags,
        operand: LoadPlan.operand
    )

    package static let exits: [(code: Int32, meaning: String)] = [
        (0, "stopped by a signal"), (1, "of load: requests failed, or rows are lost or left"),
        (2, "the command line is wrong"),
        (3, "the server can't start or run"),
        (70, "a bug in syncline-server"),
    ]

    /// Reads a whole file.
    let file: (String) throws(StartFailure) -> [UInt8]
    /// Reads an environment variable.
    let variable: (String) -> String?

    func parse(_ words: [String]) throws -> ServerCommand {
        var rest = words[...]
        let word = [Self.check.word, Self.report.word, Self.load.word].first { $0 == rest.first }
        if word != nil { rest.removeFirst() }
        let flags =
            switch word {
            case Self.report.word: Self.flags + Self.report.flags
            case Self.load.word: Self.load.flags + Self.flags.filter { ["help", "version"].contains($0.name) }
            default: Self.flags
            }
        let read = try read(rest, flags, takesOperand: word == Self.load.word)
        if read.given.contains("help") { return .help }
        if read.given.contains("version") { return .version }
        if word == Self.load.word {
            return .load(try LoadPlan(read.operand, read.given, read.values) { try secret($0) })
        }
        var tree = read.tree
        for (path, value) in read.settings { tree = Self.set(value, at: path[...], in: tree) }
        var configuration = try ServerConfiguration(.object(tree)) { text throws(StartFailure) in try secret(text) }
        configuration.renewsEpoch = read.given.contains("new-epoch")
        let isForOne = read.given.contains { ["new-epoch", "drop-column", "number"].contains($0) }
        try Self.choose(
            read.values["tenant"], in: &configuration, isNeeded: isForOne || word == Self.report.word,
            isAllowed: isForOne || word != nil)
        let serves = word == nil && read.values["number"] == nil && read.values["drop-column"] == nil
        if !serves, let name = configuration.tenant {
            configuration = configuration.settings(ofTenant: name) ?? configuration
        }
        switch word {
        case Self.check.word: return .check(configuration)
        case nil: break
        default: return .report(try ReportPlan(read.given, read.values, file: file), configuration)
        }
        if let table = read.values["number"] { return .number(table: table, configuration) }
        if let column = read.values["drop-column"] {
            guard let name = ColumnName(column) else {
                throw UsageFailure(message: "--drop-column takes TABLE.COLUMN")
            }
            return .dropColumn(name, configuration)
        }
        return read.given.contains("print-config") ? .printConfiguration(configuration) : .serve(configuration)
    }

    private static func choose(
        _ name: String?, in configuration: inout ServerConfiguration, isNeeded: Bool, isAllowed: Bool
    ) throws(UsageFailure) {
        guard let tenants = configuration.tenants else {
            if name != nil { throw UsageFailure(message: "--tenant needs a configuration with tenants") }
            return
        }
        guard let name else {
            if isNeeded { throw UsageFailure(message: "the server has tenants", hint: "Name one with --tenant") }
            return
        }
        guard tenants.stores[name] != nil else {
            throw UsageFailure(
                message: "the configuration has no tenant \(Value.string(name).json)",
                hint: Suggestion.nearest(to: name, in: tenants.names).map { "Did you mean \($0)?" })
        }
        guard isAllowed else {
            throw UsageFailure(message: "a server serves all its tenants", hint: "Leave out --tenant")
        }
        configuration.tenant = name
    }

    /// The flags of a command line.
    private struct Words {
        /// The content of the configuration's file.
        var tree: [Value.Member] = []
        var settings: [(path: [String], value: Value)] = []
        var given: Set<String> = []
        /// Values of flags that are no settings.
        var values: [String: String] = [:]
        var operand: String?
    }

    private func read(_ words: ArraySlice<String>, _ flags: [Flag], takesOperand: Bool) throws -> Words {
        var read = Words()
        var rest = words
        while let word = rest.popFirst() {
            if takesOperand, read.operand == nil, !word.hasPrefix("-") {
                read.operand = word
                continue
            }
            let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard word.hasPrefix("--"), let flag = flags.first(where: { "--" + $0.name == sides[0] }) else {
                let guess = Suggestion.nearest(to: sides[0], in: flags.map { "--" + $0.name })
                throw UsageFailure(
                    message: "there is no option \(Value.string(sides[0]).json)",
                    hint: guess.map { "Did you mean \($0)?" })
            }
            let isOwn = !Self.flags.contains { $0 == flag }
            if !read.given.insert(flag.name).inserted, isOwn || !["table", "set"].contains(flag.name) {
                throw UsageFailure(message: "--\(flag.name) is given twice")
            }
            guard flag.value != nil else {
                if sides.count > 1 {
                    throw UsageFailure(message: "--\(flag.name) takes no value", hint: "Leave it out to turn it off")
                }
                continue
            }
            guard let value = sides.count > 1 ? sides[1] : rest.popFirst() else {
                throw UsageFailure(message: "--\(flag.name) needs a value: \(flag.value ?? "")")
            }
            if flag.name == "config" {
                read.tree = try members(ofFile: value)
            } else if isOwn || ["drop-column", "number", "tenant"].contains(flag.name) {
                read.values[flag.name] = value
            } else {
                let setting = try Self.setting(flag.name, value)
                if flag.name == "table", read.settings.contains(where: { $0.path == setting.0 }) {
                    throw UsageFailure(message: "--table is given twice for \(setting.0[1])")
                }
                read.settings.append(setting)
            }
        }
        return read
    }

    private func members(ofFile path: String) throws(StartFailure) -> [Value.Member] {
        let bytes = try file(path)
        do throws(JSONError) {
            guard case .object(let members) = try Value(json: bytes, refusesDuplicates: true) else {
                throw JSONError(offset: 0, reason: .wrongShape("the configuration must be an object"))
            }
            return members
        } catch {
            throw StartFailure("\(path) can't be read: \(error)")
        }
    }

    private static func setting(_ name: String, _ text: String) throws -> ([String], Value) {
        switch name {
        case "auth-key": return (["auth", "key"], .string(text))
        case "tls-cert": return (["tls", "certificate"], .string(text))
        case "tls-key": return (["tls", "key"], .string(text))
        case "table":
            let (name, value) = try TableDefinition.object(shortForm: text)
            return (["tables", name], value)
        case "set":
            let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let path = sides[0].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard sides.count == 2, !path.contains("") else {
                throw UsageFailure(message: "--set takes MEMBER=JSON", hint: "Write it as limits.bodyBytes=65536")
            }
            return (path, (try? Value(json: sides[1].utf8, refusesDuplicates: true)) ?? .string(sides[1]))
        default: return ([name], .string(text))
        }
    }

    private static func set(_ value: Value, at path: ArraySlice<String>, in members: [Value.Member]) -> [Value.Member] {
        guard let name = path.first else { return members }
        var members = members
        let place = members.firstIndex { $0.name == name }
        var new = value
        if path.count > 1 {
            var inner: [Value.Member] = []
            if let place, case .object(let known) = members[place].value { inner = known }
            new = .object(set(value, at: path.dropFirst(), in: inner))
        }
        if let place { members[place].value = new } else { members.append(.init(name, new)) }
        return members
    }

    /// Reads a key from the place where it is stored.
    private func secret(_ text: String) throws(StartFailure) -> [UInt8] {
        let sides = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard sides.count == 2 else { return Array(text.utf8) }
        switch sides[0] {
        case "file":
            var bytes = try file(sides[1])
            while let last = bytes.last, last == 0x0a || last == 0x0d { bytes.removeLast() }
            return bytes
        case "env":
            guard let value = variable(sides[1]) else { throw StartFailure("the variable \(sides[1]) is not set") }
            return Array(value.utf8)
        case "hex":
            guard let bytes = Hexadecimal.bytes(sides[1]) else { throw StartFailure("auth.key is not valid hex") }
            return bytes
        case "base64":
            guard let bytes = Base64.decode(sides[1]) else { throw StartFailure("auth.key is not valid base64") }
            return bytes
        default: return Array(text.utf8)
        }
    }

    package static var help: String {
        var lines = [
            "syncline-server – \(purpose)", "",
            "usage: syncline-server [--store STORE] [--listen HOST:PORT] [--table NAME]… [--config FILE] …",
            "       syncline-server \(check.word) …   \(check.summary)",
            "       syncline-server \(report.word) …  \(report.summary)",
            "       syncline-server \(load.word) \(load.operand.name) --table NAME …  \(load.summary)",
            "",
        ]
        let all = flags + report.flags + load.flags
        let width = all.map { $0.name.count + ($0.value.map { $0.count + 1 } ?? 0) }.max() ?? 0
        for flag in all {
            if flag == report.flags.first { lines += ["", "flags of \(report.word):"] }
            if flag == load.flags.first { lines += ["", "flags of \(load.word):"] }
            let usage = flag.name + (flag.value.map { " " + $0 } ?? "")
            let choices = flag.choices.isEmpty ? "" : " (\(flag.choices.joined(separator: ", ")))"
            let gap = String(repeating: " ", count: width - usage.count + 2)
            lines.append("  --" + usage + gap + flag.summary + choices)
        }
        lines += [
            "", "Exit codes: " + exits.map { "\($0.code) \($0.meaning)" }.joined(separator: ", ") + ".",
            "docs/PROTOCOL.md describes the requests and responses.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}
