// The effective configuration as JSON that could start a server again; without keys.

import SynclineCore
import SynclineGround
import SynclineTables

extension ServerConfiguration {
    var value: Value {
        var members: [Value.Member] = [
            tenants.map { .init("tenants", $0.value) } ?? .init("store", .string(StoreAddress.masked(store))),
            .init("listen", .string(listen)),
            .init("defaultProtocol", .string(defaultProtocol.rawValue)), .init("root", .string(root)),
            .init("pageSize", .integer(Int64(pageSize))), .init("maxTop", .integer(Int64(maxTop))),
            .init("limits", limits.value), .init("log", .string(log.rawValue)),
            .init("threads", .integer(Int64(threads))), .init("readers", .integer(Int64(readers))),
            .init("databaseConnections", .integer(Int64(databaseConnections))),
            .init("sweepHours", .integer(Int64(sweepHours))),
        ]
        if !trustedProxies.texts.isEmpty {
            members.append(.init("trustedProxies", .array(trustedProxies.texts.map { .string($0) })))
            members.append(.init("proxyHeaders", .string(proxyHeaders.rawValue)))
        }
        if !replicas.isEmpty { members.append(.init("replicas", StorePlaces.masked(replicas))) }
        if let metricsListen { members.append(.init("metricsListen", .string(metricsListen))) }
        if let numbers { members.append(.init("numbers", .string(numbers.rawValue))) }
        if let tombstoneDays { members.append(.init("tombstoneDays", .integer(Int64(tombstoneDays)))) }
        if let requestsPerSecond { members.append(.init("requestsPerSecond", .integer(Int64(requestsPerSecond)))) }
        if let auth { members.append(.init("auth", auth.value)) }
        if let cors { members.append(.init("cors", cors.value)) }
        if let tls {
            members.append(
                .init("tls", .object([.init("certificate", .string(tls.certificate)), .init("key", .string(tls.key))])))
        }
        members.append(.init("tables", .object(tables.map { .init($0.name, $0.value) })))
        return .object(members)
    }
}

extension ServerConfiguration.Limits {
    fileprivate var value: Value {
        .object(Self.members.map { .init($0.name, .integer(Int64(self[keyPath: $0.path]))) })
    }
}

extension TokenRules {
    fileprivate var value: Value {
        var members: [Value.Member] = [.init("leewaySeconds", .integer(leewaySeconds))]
        if !keys.isEmpty { members.append(.init("keys", .array(keys.map(\.value)))) }
        if let file { members.append(.init("jwks", .string(file))) }
        if let audience { members.append(.init("audience", .string(audience))) }
        if let issuer { members.append(.init("issuer", .string(issuer))) }
        return .object(members)
    }
}

extension TokenKey {
    fileprivate var value: Value {
        var members: [Value.Member] = [
            .init("key", .string("(hidden)")), .init("algorithm", .string(algorithm.rawValue)),
        ]
        if let id { members.append(.init("kid", .string(id))) }
        return .object(members)
    }
}

extension CrossOrigin {
    fileprivate var value: Value {
        .object([
            .init("origins", .array(origins.map { .string($0) })),
            .init("maxAgeSeconds", .integer(Int64(maxAgeSeconds))),
        ])
    }
}

extension TableDefinition {
    fileprivate var value: Value {
        var members: [Value.Member] = [
            .init("softDelete", .bool(softDelete)), .init("dynamicSchema", .bool(dynamicSchema)),
            .init("columns", .object(columns.map { .init($0.name, value(of: $0)) })),
            .init("access", .string(access.text)),
        ]
        for operation in TableOperation.allCases {
            if let permission = permissions[operation] {
                members.append(.init(operation.rawValue, .string(permission.text)))
            }
        }
        for (setting, rule) in rules.all { members.append(.init(setting, .string(rule.text))) }
        if let perUser { members.append(.init("perUser", .string(perUser))) }
        if source != name { members.append(.init("source", .string(source))) }
        if !map.isEmpty {
            let names = map.sorted { $0.key < $1.key }
            members.append(.init("map", .object(names.map { .init($0.key.text, .string($0.value)) })))
        }
        return .object(members)
    }

    private func value(of column: Column) -> Value {
        let type = Value.string(column.type.rawValue)
        guard let readers = readers[ExactString(column.name)] else { return type }
        return .object([.init("type", type), .init("read", .string(readers.text))])
    }
}
