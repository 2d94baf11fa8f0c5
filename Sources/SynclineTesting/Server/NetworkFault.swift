// Faults between a store and a server: scripted request by request, or generated from a seed.

/// What happens to one request.
public enum NetworkFault: Hashable, Sendable {
    /// The connection is lost before the server sees the request.
    case dropRequest
    /// The server processes the request, and its response is lost.
    case dropAnswer
    /// The network's hook is awaited before the request is delivered.
    case delay
    /// The server gets the request twice, and its second response is delivered.
    case duplicate
    /// The server never sees the request: a proxy responds with this status.
    case answer(status: Int, retryAfter: String? = nil)
}

/// Random faults.
public struct RandomFaults: Hashable, Sendable {
    /// The seed. The same seed gives the same faults to the same request numbers.
    public var seed: UInt64
    /// How many requests in a thousand get a fault.
    public var perThousand: Int
    /// The possible faults, all equally likely.
    public var faults: [NetworkFault]

    /// Creates random faults.
    public init(
        seed: UInt64, perThousand: Int = 100,
        faults: [NetworkFault] = [
            .dropRequest, .dropAnswer, .duplicate, .answer(status: 401), .answer(status: 409), .answer(status: 412),
            .answer(status: 429, retryAfter: "0"), .answer(status: 500), .answer(status: 503, retryAfter: "0"),
        ]
    ) {
        self.seed = seed
        self.perThousand = perThousand
        self.faults = faults
    }

    /// Returns the fault of a request, by its number.
    func fault(_ number: Int) -> NetworkFault? {
        // Seeded by the request's number, so that its fault does not depend on earlier ones.
        var chance = Chance(seed: seed &+ UInt64(number) &* 0x632b_e59b_d9b4_e019)
        guard !faults.isEmpty, chance.below(1000) < perThousand else { return nil }
        return chance.pick(faults)
    }
}
