// The location of the rows: `sqlite:FILE`, or a URL of PostgreSQL.

enum StoreAddress: Hashable, Sendable {
    case sqlite(path: String)
    case postgres(url: String)

    init(_ text: String) throws(StartFailure) {
        if text.hasPrefix("sqlite:"), text.utf8.count > 7 {
            self = .sqlite(path: String(text.dropFirst(7)))
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgres(url: text.replacing(/^postgresql:/, with: "postgres:"))
        } else {
            throw StartFailure(
                "'\(StoreAddress.masked(text))' is not the address of a store",
                hint: "Write sqlite:FILE or postgres://…")
        }
    }

    /// The string without a password, wherever a URL may contain one.
    static func masked(_ text: String) -> String {
        maskedUser(text).replacing(/(?<name>[?&](ssl)?password=)[^&#]*/) { "\($0.name)(hidden)" }
    }

    private static func maskedUser(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "://"), let at = text.lastIndex(of: "@"),
            let colon = text[scheme.upperBound..<at].firstIndex(of: ":")
        else { return text }
        return text[...colon] + "(hidden)" + text[at...]
    }
}

/// The addresses of a database and its streaming replicas.
struct StorePlaces: Hashable, Sendable {
    var store: String
    var replicas: [String] = []

    init(_ store: String, replicas: [String] = []) throws(StartFailure) {
        (self.store, self.replicas) = (store, replicas)
        let address = try StoreAddress(store)
        var known: Set = [address]
        for replica in replicas {
            let other = try StoreAddress(replica)
            guard case .postgres = address, case .postgres = other else {
                throw StartFailure("only a PostgreSQL has replicas", hint: "Write their addresses as postgres://…")
            }
            if !known.insert(other).inserted {
                throw StartFailure("a store and its replicas have different addresses", hint: "Name each once")
            }
        }
    }

    /// The addresses of all.
    func addresses() throws(StartFailure) -> [StoreAddress] {
        try ([store] + replicas).map { text throws(StartFailure) in try StoreAddress(text) }
    }
}
