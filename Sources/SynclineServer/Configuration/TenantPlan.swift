// The tenants of a server, which have the same tables and each a store of its own, and the tenant that a request is for.

import SynclineCore
import SynclineTables
import SynclineWire

struct TenantPlan: Hashable, Sendable {
    /// Where a request names its tenant.
    enum Place: String, Hashable, Sendable, CaseIterable {
        /// The host to which it was sent.
        case host
        /// The first segment of its path.
        case path
        /// A claim of its token.
        case claim
    }

    var place = Place.path
    /// The claim that names the tenants of a token; nil if every token is valid for all.
    var claim: String?
    /// The number of requests per second for one tenant; nil for no limit.
    var requestsPerSecond: Int?
    /// The addresses of their stores.
    var stores: [String: StorePlaces] = [:]
    /// The same in the order in which they are written.
    var names: [String] = []

    enum Choice: Hashable, Sendable {
        case tenant(String)
        /// The server as a whole is asked for its health.
        case server
        case refused(Refusal)
    }

    /// The tenant of a request. The path of one that asks for a tenant's health becomes that of a server's.
    /// - Parameter claimed: The tenants that its token names, if that decides.
    func choice(for request: inout HTTPRequest, _ claimed: () -> ClaimedTenants) -> Choice {
        let segments = request.pathSegments
        let asksForHealth = segments.count == 1 && TenantPlan.health.contains(segments[0])
        switch place {
        case .path:
            if asksForHealth { return .server }
            guard let name = segments.first, stores[name] != nil else { return .refused(.unknownTenant) }
            if segments.count == 2, TenantPlan.health.contains(segments[1]) {
                (request.path, request.segments) = ("/" + segments[1], [segments[1]])
            }
            return .tenant(name)
        case .host:
            let name = request.headers.value("Host").flatMap { TenantPlan.name(ofHost: $0) }
            if let name, stores[name] != nil { return .tenant(name) }
            return asksForHealth ? .server : .refused(.unknownTenant)
        case .claim:
            // A browser asks without a token whether it may send one.
            if asksForHealth || request.method == "OPTIONS" { return .server }
            switch claimed() {
            case .noToken: return .refused(.loginNeeded)
            case .invalid: return .refused(.invalidToken)
            case .names(let names):
                guard names.count == 1, let name = names.first else { return .refused(.otherTenant) }
                return stores[name] == nil ? .refused(.unknownTenant) : .tenant(name)
            }
        }
    }

    private static let health: Set<String> = ["healthz", "readyz"]

    /// The name of a host in lower case, without a port and without the dot at its end.
    static func name(ofHost host: String) -> String? {
        guard HTTPRequest.isHost(host) else { return nil }
        let isAddress = host.hasPrefix("[")
        let end = isAddress ? host.firstIndex(of: "]").map { host.index(after: $0) } : host.firstIndex(of: ":")
        var name = host[..<(end ?? host.endIndex)].lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        return name
    }

    /// The reason why no tenant can have this name.
    private func fault(ofName name: String) -> String? {
        switch place {
        case .claim: return name.isEmpty ? "it is empty" : nil
        case .host: return TenantPlan.name(ofHost: name) == name ? nil : "a host has no port, and no capital letters"
        case .path:
            if TenantPlan.health.contains(name) || name == "metrics" { return "that path is the server's own" }
            let isPlain = name.utf8.allSatisfy { byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || [0x2d, 0x2e, 0x5f, 0x7e].contains(byte)
            }
            let isSegment = isPlain && !["", ".", ".."].contains(name)
            return isSegment ? nil : "the name of a path has letters, digits and -._~"
        }
    }
}

extension TenantPlan {
    init(_ value: Value, hasLogin: Bool) throws(StartFailure) {
        let object = try ConfigurationObject(
            value, path: "tenants", known: ["by", "claim", "requestsPerSecond", "stores"])
        guard let place = try object.word("by", Place.self) else {
            throw StartFailure("tenants needs by", hint: "Set it to host, path or claim")
        }
        self.place = place
        requestsPerSecond = try object.number("requestsPerSecond", in: 1...1_000_000)
        let isOpen = object["claim"] == .bool(false)
        if !isOpen { claim = try object.text("claim") }
        if claim == nil, place == .claim { throw StartFailure("tenants needs the claim that names a token's tenant") }
        if claim == nil, !isOpen, hasLogin {
            throw StartFailure(
                "tenants needs the claim that names a token's tenants",
                hint: "Set tenants.claim; false lets every token be valid for all tenants")
        }
        if claim != nil, !hasLogin {
            throw StartFailure("tenants.claim needs a key to check tokens", hint: "Set auth.key, or --auth-key")
        }
        guard case .object(let members)? = object["stores"] else {
            throw StartFailure("tenants.stores must be an object of names and addresses")
        }
        var others: [StoreAddress: String] = [:]
        for member in members {
            let path = object.place("stores") + "." + member.name
            if let fault = fault(ofName: member.name) { throw StartFailure("\(path) can't be a tenant: \(fault)") }
            let places = try StorePlaces(member.value, path: path)
            for address in try places.addresses() {
                if let other = others.updateValue(member.name, forKey: address) {
                    throw StartFailure("tenants.stores gives \(member.name) and \(other) the same store")
                }
            }
            if stores.updateValue(places, forKey: member.name) != nil {
                throw StartFailure("tenants.stores names \(member.name) twice")
            }
            names.append(member.name)
        }
    }

    var value: Value {
        var members: [Value.Member] = [.init("by", .string(place.rawValue))]
        members.append(.init("claim", claim.map { .string($0) } ?? .bool(false)))
        if let requestsPerSecond { members.append(.init("requestsPerSecond", .integer(Int64(requestsPerSecond)))) }
        let places = names.map { Value.Member($0, stores[$0]?.value ?? .null) }
        return .object(members + [.init("stores", .object(places))])
    }
}

extension StorePlaces {
    /// A string, or an object that also names replicas.
    fileprivate init(_ value: Value, path: String) throws(StartFailure) {
        if case .string(let store) = value {
            try self.init(store)
            return
        }
        guard case .object = value else { throw StartFailure("\(path) must be a string, or an object with store") }
        let object = try ConfigurationObject(value, path: path, known: ["store", "replicas"])
        guard let store = try object.text("store") else { throw StartFailure("\(path) needs store") }
        try self.init(store, replicas: try object.texts("replicas") ?? [])
    }

    fileprivate var value: Value {
        let store = Value.string(StoreAddress.masked(store))
        if replicas.isEmpty { return store }
        return .object([.init("store", store), .init("replicas", StorePlaces.masked(replicas))])
    }

    static func masked(_ addresses: [String]) -> Value { .array(addresses.map { .string(StoreAddress.masked($0)) }) }
}

extension Refusal {
    /// Not 404, which tells a client that its row is gone. Another process may know the tenant already.
    fileprivate static let unknownTenant = Refusal(503, "tenant-unknown", "The server has no such tenant")
}
