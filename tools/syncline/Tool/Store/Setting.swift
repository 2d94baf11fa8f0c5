// The settings of a store that `config` shows and changes, and what each may be.

import Syncline
import SynclineWire

/// The settings, and their allowed values.
enum Setting {
    static let names = ["backend", "protocol", "ids", "retention", "tables", "limits", "record", "token", "headers"]
    /// The settings kept next to the log, never in it, and shown masked.
    static let secrets: Set<String> = ["token", "headers"]
    /// The settings kept next to the log because they belong to this device.
    static let local: Set<String> = secrets.union(["record"])

    /// The defaults.
    static let defaults = ["ids": "exact", "record": "off", "retention": Retention.everything.description]

    static func checked(backend: String) throws(ToolError) -> String {
        guard backend.hasPrefix("http://") || backend.hasPrefix("https://") else {
            throw ToolError(
                "invalid-configuration", "`\(escaped(backend))` is not the address of a server",
                hint: "Write it as https://example.com.")
        }
        // This setting is written into the log, which is shared in reports and exports.
        let authority = backend.drop { $0 != ":" }.dropFirst(3).prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else {
            throw ToolError(
                "invalid-configuration", "the address of a server can't contain a name or a password",
                hint: "Set the address without them, and `token` or `headers` for the credentials.")
        }
        return backend
    }

    /// A value as it is kept; throws if the setting can't have it.
    static func checked(_ name: String, _ value: String) throws(ToolError) -> String {
        switch name {
        case "backend": return try checked(backend: value)
        case "protocol":
            guard ServerProtocol(rawValue: value) != nil else {
                throw ToolError("invalid-configuration", "the protocol must be zumo2 or datasync3")
            }
        case "ids", "tables": break
        case "retention":
            guard let retention = Retention(value) else {
                throw ToolError(
                    "invalid-configuration", "the retention must be `all`, or a number of days or events",
                    hint: "Write it as `30 days` or `100000 events`.")
            }
            return retention.description
        case "limits":
            do throws(SyncError) { _ = try NetworkLimits(limits(value)) } catch { throw ToolError(error) }
        case "record":
            guard value == "off" || Traffic.limit(value) != nil else {
                throw ToolError(
                    "invalid-configuration", "`record` must be `off` or a size",
                    hint: "Write it as `8 MiB`.")
            }
        case "token":
            guard !value.isEmpty, value.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7f }) else {
                throw ToolError("invalid-configuration", "a token must be one word of ASCII characters")
            }
        case "headers":
            guard case .object(let members)? = try? Value(json: Array(value.utf8)),
                members.allSatisfy({ isHeader($0) })
            else {
                throw ToolError(
                    "invalid-configuration", "headers must be an object of strings",
                    hint: #"Write them as {"X-Key":"value"}."#)
            }
        default:
            throw ToolError(
                "invalid-configuration", "there is no setting `\(escaped(name))`",
                hint: "Known settings: \(names.joined(separator: ", ")).")
        }
        return value
    }

    /// Network limits as the store keeps them; null, for no limits, if it is not JSON.
    static func limits(_ text: String) -> Value { (try? Value(json: Array(text.utf8))) ?? .null }

    /// The allowed tables of a store; nil for any.
    static func tables(_ text: String) -> [String]? {
        let names = text.split(separator: ",").map { $0.trimmingSpaces() }
        return names.isEmpty || names == ["any"] ? nil : names
    }

    /// The tables of a store that refuses other tables.
    static func shown(tables declaration: Declaration?) -> Value {
        guard let declaration, declaration.isStrict else { return .null }
        return .array(declaration.tables.map { .string($0.name) })
    }

    private static func isHeader(_ member: Value.Member) -> Bool {
        guard case .string(let text) = member.value else { return false }
        let isName =
            !member.name.isEmpty
            && member.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
        return isName && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    /// A secret, masked.
    static func masked(_ value: Value) -> Value {
        switch value {
        case .string: .string("••••")
        case .object(let members): .object(members.map { .init($0.name, masked($0.value)) })
        default: value
        }
    }
}
