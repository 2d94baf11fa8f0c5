// Many clients that ask at once, each on a connection of its own. One thread serves them all: threads would take the
// server's cores.

import Glibc

struct LoadResult {
    var requests = 0
    var seconds = 0.0
    var latency = Histogram()
}

struct ServerLoad {
    private let connections: [LoadConnection]
    private var polls: [pollfd]
    /// When each was asked last.
    private var asked: [UInt64]
    private var result = LoadResult()

    /// Lets clients send the request that `request` makes for each number, until the time or the numbers are used up.
    static func run(
        port: UInt16, clients: Int, seconds: Double, count: Int = .max, expecting status: Int,
        _ request: (Int) -> [UInt8]
    ) throws -> LoadResult {
        var load = try ServerLoad(port: port, clients: clients)
        let start = monotonicNanoseconds()
        let end = start + UInt64(seconds * 1e9)
        var numbers = (0..<count).makeIterator()
        func next() -> [UInt8]? { monotonicNanoseconds() < end ? numbers.next().map(request) : nil }
        var waiting = 0
        for place in load.connections.indices where try load.ask(place, next()) { waiting += 1 }
        while waiting > 0 {
            guard poll(&load.polls, nfds_t(load.polls.count), 60_000) > 0 else {
                throw BenchError("The server does not answer")
            }
            for place in load.polls.indices where load.polls[place].revents != 0 {
                guard try load.answered(place, expecting: status) else { continue }
                if try !load.ask(place, next()) { waiting -= 1 }
            }
        }
        load.result.seconds = Double(monotonicNanoseconds() - start) / 1e9
        return load.result
    }

    private init(port: UInt16, clients: Int) throws {
        connections = try (0..<clients).map { _ in try LoadConnection(port: port) }
        polls = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        asked = Array(repeating: 0, count: clients)
    }

    /// Sends a request on a connection; false if no request is left.
    private mutating func ask(_ place: Int, _ request: [UInt8]?) throws -> Bool {
        guard let request else {
            polls[place].fd = -1
            return false
        }
        asked[place] = monotonicNanoseconds()
        try connections[place].send(request)
        return true
    }

    /// Reads what arrived on a connection; false while its answer is not whole.
    private mutating func answered(_ place: Int, expecting status: Int) throws -> Bool {
        guard let answer = try connections[place].receive() else { return false }
        guard answer.status == status else {
            let text = String(decoding: connections[place].buffer[answer.body].prefix(200), as: UTF8.self)
            throw BenchError("Status \(answer.status) instead of \(status): \(text)")
        }
        result.requests += 1
        result.latency.add(monotonicNanoseconds() - asked[place])
        return true
    }
}
