// Reads the configuration's JSON into values. Every member must be known, have the right kind and be in range;
// otherwise the server does not start. An error names its place.

import SynclineCore
import SynclineTables
import SynclineWire

/// An object of the configuration while it is read. Members that were not read are errors.
struct ConfigurationObject {
    let path: String
    let members: [Value.Member]

    init(_ value: Value, path: String, known: [String]) throws(StartFailure) {
        guard case .object(let members) = value else {
            throw StartFailure("\(path.isEmpty ? "the configuration" : path) must be an object")
        }
        self.path = path
        self.members = members
        // Duplicates are checked here, too, because the short form of a table is not parsed from JSON.
        var names: Set<String> = []
        if let twice = members.first(where: { !names.insert($0.name).inserted }) {
            throw StartFailure("the configuration has two members named \(ConfigurationObject.join(path, twice.name))")
        }
        for member in members where !known.contains(member.name) {
            let guess = Suggestion.nearest(to: member.name, in: known)
            throw StartFailure(
                "the configuration can't have a member \(ConfigurationObject.join(path, member.name))",
                hint: guess.map { "Did you mean \($0)?" })
        }
    }

    static func join(_ path: String, _ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    func place(_ name: String) -> String { ConfigurationObject.join(path, name) }

    subscript(name: String) -> Value? {
        members[member: name].flatMap { $0.isNull ? nil : $0 }
    }

    func text(_ name: String) throws(StartFailure) -> String? {
        guard let value = self[name] else { return nil }
        guard case .string(let text) = value else { throw StartFailure("\(place(name)) must be a string") }
        return text
    }

    func texts(_ name: String) throws(StartFailure) -> [String]? {
        guard let value = self[name] else { return nil }
        guard case .array(let elements) = value else { throw StartFailure("\(place(name)) must be a list of strings") }
        return try elements.map { element throws(StartFailure) in
            guard case .string(let text) = element else {
                throw StartFailure("\(place(name)) must be a list of strings")
            }
            return text
        }
    }

    func flag(_ name: String) throws(StartFailure) -> Bool? {
        guard let value = self[name] else { return nil }
        guard case .bool(let flag) = value else { throw StartFailure("\(place(name)) must be true or false") }
        return flag
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws(StartFailure) -> Int? {
        guard let value = self[name] else { return nil }
        guard case .integer(let number) = value, range.contains(Int(number)) else {
            throw StartFailure("\(place(name)) must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(number)
    }

    func word<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _ type: Choice.Type
    ) throws(StartFailure) -> Choice? where Choice.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue)
            throw StartFailure(
                "\(place(name)) can't be \(Value.string(text).json); choose one of \(known.joined(separator: ", "))",
                hint: Suggestion.nearest(to: text, in: known).map { "Did you mean \($0)?" })
        }
        return choice
    }
}

extension ServerConfiguration {
    private static let members = [
        "store", "replicas", "listen", "metricsListen", "defaultProtocol", "root", "pageSize", "maxTop", "limits",
        "auth", "cors", "tables", "tls", "log", "tombstoneDays", "requestsPerSecond", "threads", "readers",
        "databaseConnections", "trustedProxies", "proxyHeaders", "sweepHours", "numbers", "examples", "tenants",
    ]

    /// Reads a configuration. `secret` returns the key for a string that says where the key is stored.
    init(_ value: Value, secret: (String) throws(StartFailure) -> [UInt8]) throws(StartFailure) {
        self.init()
        let object = try ConfigurationObject(value, path: "", known: ServerConfiguration.members)
        store = try object.text("store") ?? store
        replicas = try object.texts("replicas") ?? []
        if !replicas.isEmpty { _ = try StorePlaces(store, replicas: replicas) }
        listen = try object.text("listen") ?? listen
        metricsListen = try object.text("metricsListen")
        defaultProtocol = try object.word("defaultProtocol", ServerProtocol.self) ?? defaultProtocol
        root = try object.text("root") ?? root
        guard root.hasPrefix("/"), root.count > 1 else { throw StartFailure("root must be a path such as /tables") }
        pageSize = try object.number("pageSize", in: 1...128_000) ?? pageSize
        maxTop = try object.number("maxTop", in: 1...1_000_000) ?? maxTop
        log = try object.word("log", LogForm.self) ?? log
        tombstoneDays = try object.number("tombstoneDays", in: 1...100_000)
        sweepHours = try object.number("sweepHours", in: 0...10_000) ?? sweepHours
        numbers = try object.word("numbers", NumberSource.self)
        requestsPerSecond = try object.number("requestsPerSecond", in: 1...1_000_000)
        threads = try object.number("threads", in: 1...1024) ?? threads
        readers = try object.number("readers", in: 1...1024) ?? readers
        databaseConnections = try object.number("databaseConnections", in: 1...1000) ?? databaseConnections
        if let value = object["limits"] { limits = try Limits(value) }
        if let value = object["auth"] { auth = try TokenRules(value, secret) }
        if let value = object["tenants"] {
            if object["store"] != nil || object["replicas"] != nil {
                throw StartFailure("a server with tenants can't have a store of its own")
            }
            tenants = try TenantPlan(value, hasLogin: auth != nil)
            auth?.tenantClaim = tenants?.claim
        }
        if let proxies = try object.texts("trustedProxies") { trustedProxies = try TrustedProxies(proxies) }
        proxyHeaders = try object.word("proxyHeaders", ProxyHeaders.self) ?? proxyHeaders
        if let value = object["cors"] { cors = try CrossOrigin(value) }
        if let value = object["tls"] {
            let files = try ConfigurationObject(value, path: "tls", known: ["certificate", "key"])
            guard let certificate = try files.text("certificate"), let key = try files.text("key") else {
                throw StartFailure("tls needs both a certificate and a key")
            }
            tls = TLSFiles(certificate: certificate, key: key)
        }
        if let value = object["tables"] { tables = try ServerConfiguration.tables(value) }
        try check()
        if let value = object["examples"] { try checkExamples(value) }
    }

    private func checkExamples(_ value: Value) throws(StartFailure) {
        guard case .object(let members) = value else { throw StartFailure("examples must be an object") }
        for member in members {
            if let fault = try RuleExample(member.name, member.value).fault(tables) {
                throw StartFailure("examples.\(member.name): \(fault)", hint: "Correct the rule, or the example")
            }
        }
    }

    private static func tables(_ value: Value) throws(StartFailure) -> [TableDefinition] {
        guard case .object(let members) = value else { throw StartFailure("tables must be an object") }
        var tables: [TableDefinition] = []
        var names: Set<String> = []
        for member in members {
            let table = try TableDefinition(member.name, member.value)
            if !names.insert(table.name.lowercased()).inserted {
                throw StartFailure("tables has two tables named \(table.name)")
            }
            tables.append(table)
        }
        return tables
    }

    private func check() throws(StartFailure) {
        if let fault = RuleFault.first(in: tables) {
            throw StartFailure("tables.\(fault.description)", hint: fault.mend)
        }
        for table in tables {
            let permissions = TableOperation.allCases.map { table.permission($0) }
            let needsLogin =
                table.perUser != nil || !table.rules.isEmpty
                || permissions.contains { $0 != .anonymous && $0 != .disabled }
            if needsLogin, auth == nil {
                throw StartFailure(
                    "table \(table.name) needs a login, but there is no key to check tokens",
                    hint: "Set auth.key, or --auth-key")
            }
        }
    }
}

extension ServerConfiguration.Limits {
    /// Every limit, in the order in which they are printed, with its least and its largest value.
    static var members: [(name: String, path: WritableKeyPath<Self, Int>, least: Int, most: Int)] {
        let (mebibyte, gibibyte, day) = (1 << 20, 1 << 30, 86_400)
        return [
            ("bodyBytes", \.bodyBytes, 1, gibibyte),
            ("urlBytes", \.urlBytes, 64, mebibyte),
            ("headerBytes", \.headerBytes, 256, mebibyte),
            ("idleSeconds", \.deadlines.idle, 1, day),
            ("stalledSeconds", \.stalledSeconds, 1, day),
            ("filterDepth", \.filterDepth, 1, 200),
            ("connections", \.connections, 1, 100_000),
            ("readSeconds", \.readSeconds, 1, day),
            ("waitingReads", \.waitingReads, 1, 100_000),
            ("newColumns", \.rows.newColumns, 0, 1500),
            ("columns", \.rows.columns, 0, 1500),
            ("answerBytes", \.rows.answerBytes, 1000, gibibyte),
            ("rememberedBytes", \.rows.rememberedBytes, 0, gibibyte),
            ("connectionsPerAddress", \.connectionsPerAddress, 1, 100_000),
            ("headSeconds", \.deadlines.head, 1, day),
            ("bodySeconds", \.deadlines.body, 1, day),
            ("requestSeconds", \.deadlines.request, 1, day),
            ("databaseSeconds", \.database.statement.wholeSeconds, 1, day),
            ("databaseConnectSeconds", \.database.connect.wholeSeconds, 1, day),
            ("databaseWaitSeconds", \.database.turn.wholeSeconds, 1, day),
        ]
    }

    init(_ value: Value) throws(StartFailure) {
        self.init()
        let object = try ConfigurationObject(value, path: "limits", known: Self.members.map(\.name))
        for (name, path, least, most) in Self.members {
            if let number = try object.number(name, in: least...most) { self[keyPath: path] = number }
        }
    }
}

extension TokenRules {
    init(_ value: Value, _ secret: (String) throws(StartFailure) -> [UInt8]) throws(StartFailure) {
        self.init()
        let own = ["key", "algorithm", "kid"]
        let object = try ConfigurationObject(
            value, path: "auth", known: own + ["keys", "jwks", "audience", "issuer", "leewaySeconds"])
        if object["key"] != nil { keys.append(try TokenRules.key(object, secret)) }
        if let list = object["keys"] {
            guard case .array(let elements) = list else { throw StartFailure("auth.keys must be a list") }
            for (index, element) in elements.enumerated() {
                let inner = try ConfigurationObject(element, path: "auth.keys[\(index)]", known: own)
                keys.append(try TokenRules.key(inner, secret))
            }
        }
        file = try object.text("jwks")
        if keys.isEmpty, file == nil { throw StartFailure("auth needs a key, keys or jwks") }
        if keys.count != Set(keys.map { [$0.id, $0.algorithm.rawValue] }).count {
            throw StartFailure("two keys of auth have the same kid", hint: "Give each key its own kid")
        }
        audience = try object.text("audience")
        issuer = try object.text("issuer")
        leewaySeconds = Int64(try object.number("leewaySeconds", in: 0...86_400) ?? Int(leewaySeconds))
    }

    private static func key(
        _ object: ConfigurationObject, _ secret: (String) throws(StartFailure) -> [UInt8]
    ) throws(StartFailure) -> TokenKey {
        guard let text = try object.text("key") else { throw StartFailure("\(object.path) needs a key") }
        let algorithm = try object.word("algorithm", TokenAlgorithm.self) ?? .hs256
        let key = TokenKey(try secret(text), algorithm, id: try object.text("kid"))
        if let fault = TokenSignature.fault(key) {
            throw StartFailure("\(object.place("key")) is not a key for \(algorithm.rawValue)", hint: fault)
        }
        return key
    }
}

extension CrossOrigin {
    init(_ value: Value) throws(StartFailure) {
        self.init()
        let object = try ConfigurationObject(value, path: "cors", known: ["origins", "maxAgeSeconds"])
        maxAgeSeconds = try object.number("maxAgeSeconds", in: 0...86_400) ?? maxAgeSeconds
        guard let list = object["origins"] else { return }
        guard case .array(let elements) = list else { throw StartFailure("cors.origins must be a list of hosts") }
        origins = []
        for element in elements {
            guard case .string(let text) = element else { throw StartFailure("cors.origins must be a list of hosts") }
            guard text == "null" || OriginPattern(text) != nil else {
                throw StartFailure(
                    "cors.origins: '\(text.prefix(80))' is neither a host nor an origin",
                    hint: "Write app.example, *.app.example or https://app.example:8443")
            }
            origins.append(text)
        }
    }
}
