// `init` and `config`: a new store, and what it is set to.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect

enum InitCommand {
    static let command = Command(
        "init", "creates a store",
        details: ["The store is the directory that --store names, or .syncline in the current one."],
        options: [
            Option("backend", value: "URL", "where its tables are on a server"),
            Option("protocol", value: "NAME", choices: ["zumo2", "datasync3"], "what that server speaks; zumo2"),
            Option("ids", value: "HOW", choices: ["exact", "ignore-case"], "how ids are compared; exact"),
        ],
        examples: [Example("syncline init --backend https://example.com", "in ./.syncline")],
        result: #"{"store":"…"}"#, run: run)

    private nonisolated(nonsending) static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode
    {
        var arguments = arguments
        if arguments.value("store") == nil, context.environment["SYNCLINE_STORE"] == nil {
            arguments.setStore(context.environment.directory + "/" + StoreLocation.folderName)
        }
        let backend = try arguments.value("backend").map { try Setting.checked(backend: $0) }
        var configuration = SyncConfiguration()
        configuration.wireProtocol = arguments.value("protocol") ?? "zumo2"
        configuration.ids = arguments.value("ids") == "ignore-case" ? .ignoreCase : .exact
        try await context.withDatabase(arguments, creating: .always, configuration) { database in
            if let backend { try await database.set("backend", .string(backend)) }
        }
        let path = try StoreLocation.find(arguments, context.environment).path
        try context.output.value(["store": .string(path)])
        try context.output.line("created \(path)")
        return .done
    }
}

/// The settings people change, and what they may be.
enum Setting {
    static let names = ["backend", "protocol", "ids"]

    static func checked(backend: String) throws(ToolError) -> String {
        guard backend.hasPrefix("http://") || backend.hasPrefix("https://") else {
            throw ToolError(
                "invalid-configuration", "`\(escaped(backend))` is no address of a server",
                hint: "Write it as https://example.com.")
        }
        return backend
    }

    static func checked(_ name: String, _ value: String) throws(ToolError) -> String {
        switch name {
        case "backend": return try checked(backend: value)
        case "protocol":
            guard ["zumo2", "datasync3"].contains(value) else {
                throw ToolError("invalid-configuration", "the protocol is zumo2 or datasync3")
            }
            return value
        case "ids":
            throw ToolError(
                "invalid-configuration", "how ids are compared is fixed when a store is created",
                hint: "Create another with --ids and import the rows.")
        default:
            throw ToolError(
                "invalid-configuration", "there is no setting `\(escaped(name))`",
                hint: "There are: \(names.joined(separator: ", ")).")
        }
    }
}

enum ConfigCommand {
    static let command = Command(
        "config", "shows or changes settings",
        operands: [
            Operand("KEY", "the setting; all are shown without it"),
            Operand("VALUE", "what to set it to"),
        ],
        examples: [
            Example("syncline config", "everything that is set"),
            Example("syncline config backend https://example.com", "where to push and pull"),
        ],
        result: #"{"backend":"…","protocol":"zumo2","ids":"exact"}"#, run: run)

    private nonisolated(nonsending) static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode
    {
        if arguments.operands.count == 2 {
            let (name, text) = (arguments.operands[0], arguments.operands[1])
            let value = try Setting.checked(name, text)
            try await context.withDatabase(arguments) { try await $0.set(name, .string(value)) }
        }
        let reader = try await context.view(arguments).reader
        let wanted = arguments.operands.first
        if let wanted, !Setting.names.contains(wanted) { _ = try Setting.checked(wanted, "") }
        var members: [JSONValue.Member] = []
        for name in Setting.names where wanted == nil || wanted == name {
            let value = try reader.setting(name) ?? (name == "ids" ? .string("exact") : .null)
            members.append(.init(key: name, value: JSONValue(value)))
            if case .string(let text) = value { try context.output.line("\(name) = \(escaped(text))") }
        }
        try context.output.value(.object(members))
        return .done
    }
}
