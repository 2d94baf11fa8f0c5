// The way from a store to the simulated server: perfect unless told otherwise, and the same every time.

import Synchronization
public import Syncline
package import SynclineCore
package import SynclineWire

/// Brings a store's requests to a ``SimulatedServer``, with the faults a test asks for.
///
/// A script decides about the next requests one by one; when it is used up, the random faults do, if there are any. Without
/// either every request arrives and every answer comes back.
public final class SimulatedNetwork: Sendable {
    private struct State: Sendable {
        var script: [NetworkFault?] = []
        var random: RandomFaults?
        var requests: [HTTPRequest] = []
        var isOffline = false
    }

    private let server: SimulatedServer
    private let hook: @Sendable (Int) async -> Void
    private let state = Mutex(State())

    /// `hook` is awaited where a fault is a delay, with the number of the request, from 1.
    public init(_ server: SimulatedServer, hook: @escaping @Sendable (Int) async -> Void = { _ in }) {
        self.server = server
        self.hook = hook
    }

    /// What the next requests meet, in order; nil for nothing.
    public func script(_ faults: [NetworkFault?]) {
        state.withLock { $0.script = faults }
    }

    /// What requests behind the script meet.
    public func setRandomFaults(_ faults: RandomFaults?) {
        state.withLock { $0.random = faults }
    }

    /// Whether there is no connection at all.
    public func setOffline(_ isOffline: Bool) {
        state.withLock { $0.isOffline = isOffline }
    }

    /// How many requests were sent, also those that did not arrive.
    public var requestCount: Int { state.withLock { $0.requests.count } }

    /// The requests that were sent, also those that did not arrive.
    package var requests: [HTTPRequest] { state.withLock { $0.requests } }
}

extension SimulatedNetwork: HTTPTransport {
    package func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        let (number, fault) = state.withLock { state -> (Int, NetworkFault?) in
            state.requests.append(request)
            let number = state.requests.count
            if state.isOffline { return (number, .dropRequest) }
            if !state.script.isEmpty { return (number, state.script.removeFirst()) }
            return (number, state.random?.fault(number))
        }
        if Task.isCancelled { throw .cancelled }
        switch fault {
        case nil: return server.handle(request)
        case .dropRequest?: throw .offline("the connection was lost")
        case .dropAnswer?:
            _ = server.handle(request)
            throw .offline("the connection was lost before the answer came")
        case .delay?:
            await hook(number)
            if Task.isCancelled { throw .cancelled }
            return server.handle(request)
        case .duplicate?:
            _ = server.handle(request)
            return server.handle(request)
        case .answer(let status, let retryAfter)?:
            var response = HTTPResponse(status: status)
            if let retryAfter { response.headers.append(HTTPHeader("Retry-After", retryAfter)) }
            return response
        }
    }
}

extension SyncConfiguration {
    /// Makes a store's requests go through a simulated network instead of the real one.
    public mutating func connect(to network: SimulatedNetwork) {
        transport = network
    }
}
