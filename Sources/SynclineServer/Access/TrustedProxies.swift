// Proxies whose headers are trusted: which client sent a request, and how it reached them. From all other peers these
// headers are ignored.

import CLibrary
import SynclineTables
import SynclineWire

struct TrustedProxies: Hashable, Sendable {
    private struct Network: Hashable {
        let bytes: [UInt8]
        let bits: Int

        /// `10.0.0.0/8`, `::1`.
        init?(_ text: String) {
            let sides = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let bytes = ClientAddress(text: sides[0])?.bytes else { return nil }
            self.bytes = bytes
            guard sides.count == 2 else {
                bits = bytes.count * 8
                return
            }
            guard let bits = Int(sides[1]), (0...bytes.count * 8).contains(bits) else { return nil }
            self.bits = bits
        }

        func contains(_ other: [UInt8]) -> Bool {
            guard other.count == bytes.count else { return false }
            let whole = bits / 8
            guard bytes.prefix(whole) == other.prefix(whole) else { return false }
            let rest = bits % 8
            return rest == 0 || (bytes[whole] ^ other[whole]) >> (8 - rest) == 0
        }
    }

    /// The original strings.
    let texts: [String]
    private let networks: [Network]

    init() { (texts, networks) = ([], []) }

    init(_ texts: [String]) throws(StartFailure) {
        self.texts = texts
        var networks: [Network] = []
        for text in texts {
            guard let network = Network(text) else {
                throw StartFailure(
                    "trustedProxies: '\(text.prefix(80))' is neither an address nor a network",
                    hint: "Write 10.0.0.7 or 10.0.0.0/8")
            }
            networks.append(network)
        }
        self.networks = networks
    }

    func contains(_ address: ClientAddress) -> Bool {
        networks.contains { network in address.bytes.map { network.contains($0) } ?? false }
    }
}

/// The headers in which trusted proxies describe a request. Proxies write one kind and pass on what clients write in the
/// other, so only one counts.
enum ProxyHeaders: String, Hashable, Sendable, CaseIterable {
    case xForwarded = "x-forwarded"
    case forwarded

    var other: ProxyHeaders { self == .forwarded ? .xForwarded : .forwarded }
}

/// The information of trusted proxies about a request; nil if they give none.
struct Forwarding: Hashable, Sendable {
    var client: ClientAddress?
    var scheme: String?
    var host: String?

    /// The nearest proxy writes last. Any client may have written the entries before the first untrusted one.
    init(_ headers: [HTTPHeader], _ proxies: TrustedProxies, _ kind: ProxyHeaders) {
        switch kind {
        case .forwarded: readStandard(headers, proxies)
        case .xForwarded: readUsual(headers, proxies)
        }
    }

    /// Whether both describe the request, and differ.
    func contradicts(_ other: Forwarding) -> Bool {
        func differ<Part: Equatable>(_ one: Part?, _ two: Part?) -> Bool { one != nil && two != nil && one != two }
        return differ(client, other.client) || differ(scheme, other.scheme) || differ(host, other.host)
    }

    private mutating func readStandard(_ headers: [HTTPHeader], _ proxies: TrustedProxies) {
        let standard = Forwarding.list("Forwarded", headers).map(Forwarding.pairs)
        if standard.isEmpty { return }
        let place = standard.lastIndex { pairs in
            pairs["for"].flatMap { ClientAddress(text: Forwarding.bare($0)) }.map { !proxies.contains($0) } ?? true
        }
        let pairs = standard[place ?? 0]
        client = pairs["for"].flatMap { ClientAddress(text: Forwarding.bare($0)) }
        take(scheme: pairs["proto"], host: pairs["host"])
    }

    private mutating func readUsual(_ headers: [HTTPHeader], _ proxies: TrustedProxies) {
        let clients = Forwarding.list("X-Forwarded-For", headers).map { ClientAddress(text: Forwarding.bare($0)) }
        let place = clients.lastIndex { $0.map { !proxies.contains($0) } ?? true } ?? 0
        client = clients.indices.contains(place) ? clients[place] : nil
        /// The number of proxies that wrote after the one that saw the client.
        let later = max(0, clients.count - 1 - place)
        func value(_ name: String) -> String? {
            let values = Forwarding.list(name, headers)
            return values.isEmpty ? nil : values[max(0, values.count - 1 - later)]
        }
        take(scheme: value("X-Forwarded-Proto"), host: value("X-Forwarded-Host"))
    }

    private mutating func take(scheme: String?, host: String?) {
        self.scheme = scheme.map { $0.lowercased() }.flatMap { ["http", "https"].contains($0) ? $0 : nil }
        self.host = host.flatMap { HTTPRequest.isHost($0) ? $0 : nil }
    }

    /// The members of a list header, over all its lines.
    private static func list(_ name: String, _ headers: [HTTPHeader]) -> [String] {
        headers.filter { $0.isNamed(name) }.flatMap { $0.value.split(separator: ",").map(\.trimmed) }
    }

    /// `for=192.0.2.60;proto=https`
    private static func pairs(_ element: String) -> [String: String] {
        var pairs: [String: String] = [:]
        for pair in element.split(separator: ";") {
            let sides = pair.split(separator: "=", maxSplits: 1).map(\.trimmed)
            if sides.count == 2 { pairs[sides[0].lowercased()] = sides[1].filter { $0 != "\"" } }
        }
        return pairs
    }

    /// An address without brackets and port.
    private static func bare(_ text: String) -> String {
        if text.hasPrefix("[") { return String(text.dropFirst().prefix { $0 != "]" }) }
        return text.count { $0 == ":" } == 1 ? String(text.prefix { $0 != ":" }) : text
    }
}
