// The location of the rows: `sqlite:FILE`, or a URL of PostgreSQL.

enum StoreAddress: Hashable, Sendable {
    case sqlite(path: String)
    case postgres(url: String)

    init(_ text: String) throws(StartFailure) {
        if text.hasPrefix("sqlite:"), text.utf8.count > 7 {
            self = .sqlite(path: String(text.dropFirst(7)))
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgres(url: text)
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
        for replica in replicas {
            guard case .postgres = address, case .postgres = try StoreAddress(replica) else {
                throw StartFailure("only a PostgreSQL has replicas", hint: "Write their addresses as postgres://…")
            }
            if replica == store { throw StartFailure("the store is named as its own replica") }
        }
    }
}
