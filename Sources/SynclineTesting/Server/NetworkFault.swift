// What can go wrong between a store and a server, and when: scripted request by request, or drawn from a seed.

/// What happens to one request.
public enum NetworkFault: Hashable, Sendable {
    /// The connection is lost before the server sees the request.
    case dropRequest
    /// The server does what it is asked, and its answer is lost.
    case dropAnswer
    /// The network's hook is awaited before the request goes on.
    case delay
    /// The server gets the request twice; its second answer is delivered.
    case duplicate
    /// The server never sees the request: something before it answers with this status.
    case answer(status: Int, retryAfter: String? = nil)
}

/// Faults at random.
public struct RandomFaults: Hashable, Sendable {
    /// The same seed gives the same faults to the same number of requests.
    public var seed: UInt64
    /// How many requests in a thousand meet a fault.
    public var perThousand: Int
    /// What they meet, each as often as another.
    public var faults: [NetworkFault]

    /// A fault.
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

    /// What the request of a number meets.
    func fault(_ number: Int) -> NetworkFault? {
        // A seed of its own, so that a fault does not depend on how many there were before.
        var chance = Chance(seed: seed &+ UInt64(number) &* 0x632b_e59b_d9b4_e019)
        guard !faults.isEmpty, chance.below(1000) < perThousand else { return nil }
        return chance.pick(faults)
    }
}
