// Reads a table's part of the configuration: as an object in the file, or in the short form of the command line,
// `todoitem:softDelete,columns=text/string+complete/boolean`.

import SynclineCore
import SynclineGround
import SynclineTables

extension TableDefinition {
    private static let members =
        ["softDelete", "dynamicSchema", "columns", "access", "perUser", "source", "map", "write"]
        + TableOperation.allCases.map(\.rawValue)

    init(_ name: String, _ value: Value) throws(StartFailure) {
        self.init(name)
        if let fault = TableDefinition.fault(name) { throw StartFailure("a table can't be named '\(name)': \(fault)") }
        let object = try ConfigurationObject(value, path: "tables.\(name)", known: TableDefinition.members)
        softDelete = try object.flag("softDelete") ?? softDelete
        dynamicSchema = try object.flag("dynamicSchema") ?? dynamicSchema
        perUser = try object.text("perUser")
        source = try object.text("source") ?? source
        if let value = object["columns"] {
            (columns, readers) = try TableDefinition.columns(value, object.place("columns"))
        }
        if let word = try object.text("access") {
            access = try Permission(word, object.place("access"))
            guard access == .anonymous || access == .authenticated else {
                throw StartFailure("\(object.place("access")) must be anonymous or authenticated")
            }
        }
        for operation in TableOperation.allCases {
            guard let word = try object.text(operation.rawValue) else { continue }
            if try rules.take(word, operation, object.place(operation.rawValue)) { continue }
            permissions[operation] = try Permission(word, object.place(operation.rawValue))
        }
        if let text = try object.text("write") { rules.write = try RowRule(text, object.place("write")) }
        if let value = object["map"] { map = try TableDefinition.map(value, object.place("map")) }
        if let perUser { try TableDefinition.check(column: perUser, object.place("perUser")) }
    }

    /// The names of the server's indexes contain the table's name and add to its length.
    private static func fault(_ name: String) -> String? {
        name.utf8.count > 40 ? "it has more than 40 bytes" : NameRule.fault(name)
    }

    /// A column is its type, or an object with the type and those who may see it.
    private static func columns(
        _ value: Value, _ place: String
    ) throws(StartFailure) -> ([Column], [ExactString: Permission]) {
        guard case .object(let members) = value else { throw StartFailure("\(place) must be an object") }
        var (columns, readers) = ([] as [Column], [:] as [ExactString: Permission])
        for var member in members {
            try check(column: member.name, place)
            if case .object = member.value {
                let object = try ConfigurationObject(
                    member.value, path: "\(place).\(member.name)", known: ["type", "read"])
                if let word = try object.text("read") {
                    readers[ExactString(member.name)] = try Permission(word, object.place("read"))
                }
                member.value = object["type"] ?? .null
            }
            let known = ColumnType.served.map(\.rawValue)
            guard case .string(let text) = member.value, let type = ColumnType(rawValue: text),
                ColumnType.served.contains(type)
            else {
                throw StartFailure("\(place).\(member.name) must be one of \(known.joined(separator: ", "))")
            }
            if columns.contains(where: { $0.name.lowercased().hasSameBytes(as: member.name.lowercased()) }) {
                throw StartFailure("\(place) has two columns named \(member.name)")
            }
            columns.append(Column(member.name, type))
        }
        return (columns, readers)
    }

    private static func check(column name: String, _ place: String) throws(StartFailure) {
        if SystemColumn(anyCase: name) != nil { throw StartFailure("\(place): column \(name) is reserved") }
        if let fault = NameRule.fault(column: name) {
            throw StartFailure("\(place): '\(name)' can't name a column: \(fault)")
        }
    }

    private static func map(_ value: Value, _ place: String) throws(StartFailure) -> [ExactString: String] {
        guard case .object(let members) = value else { throw StartFailure("\(place) must be an object") }
        var map: [ExactString: String] = [:]
        for member in members {
            guard case .string(let text) = member.value, !text.isEmpty, !text.utf8.contains(0) else {
                throw StartFailure("\(place).\(member.name) must name a column of the database's table")
            }
            map[member.name] = text
        }
        return map
    }

    /// The object that the short form represents.
    static func object(shortForm text: String) throws(StartFailure) -> (name: String, value: Value) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        var members: [Value.Member] = []
        for option in (parts.count > 1 ? parts[1] : "").split(separator: ",") {
            let sides = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let value: Value
            switch (sides[0], sides.count > 1 ? sides[1] : nil) {
            case (_, nil), (_, "true"): value = .bool(true)
            case (_, "false"): value = .bool(false)
            case ("columns", let list?):
                var columns: [Value.Member] = []
                for column in list.split(separator: "+") {
                    let pair = column.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                    guard pair.count == 2 else {
                        throw StartFailure("--table: columns are written as text/string+complete/boolean")
                    }
                    columns.append(.init(pair[0], .string(pair[1])))
                }
                value = .object(columns)
            case (_, let word?): value = .string(word)
            }
            members.append(.init(sides[0], value))
        }
        return (parts[0], .object(members))
    }
}

extension Permission {
    init(_ word: String, _ place: String) throws(StartFailure) {
        switch word {
        case "anonymous": self = .anonymous
        case "authenticated": self = .authenticated
        case "disabled": self = .disabled
        case _ where word.hasPrefix("role:") && word.utf8.count > 5: self = .role(String(word.dropFirst(5)))
        default:
            throw StartFailure("\(place) can't be '\(word)'; write anonymous, authenticated, role:NAME or disabled")
        }
    }

    var text: String {
        switch self {
        case .anonymous: "anonymous"
        case .authenticated: "authenticated"
        case .disabled: "disabled"
        case .role(let name): "role:\(name)"
        }
    }
}
