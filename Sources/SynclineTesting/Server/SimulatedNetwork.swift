// The network between a store and the simulated server: perfect by default, and deterministic.

public import Syncline
import SynclineGround
package import SynclineWire

/// Sends a store's requests to a ``SimulatedServer``, with the faults a test requests.
///
/// A script sets the faults of the next requests one by one. When it is used up, the random faults apply, if there
/// are any. Without either, every request and every response arrives.
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

    /// Creates a network. For a delay fault, `hook` is awaited with the number of the request, from 1.
    public init(_ server: SimulatedServer, hook: @escaping @Sendable (Int) async -> Void = { _ in }) {
        self.server = server
        self.hook = hook
    }

    /// Sets the faults of the next requests, in order; nil for none.
    public func script(_ faults: [NetworkFault?]) {
        state.withLock { $0.script = faults }
    }

    /// Sets the faults of requests after the script.
    public func setRandomFaults(_ faults: RandomFaults?) {
        state.withLock { $0.random = faults }
    }

    /// Sets whether there is no connection at all.
    public func setOffline(_ isOffline: Bool) {
        state.withLock { $0.isOffline = isOffline }
    }

    /// The number of requests sent, including those that did not arrive.
    public var requestCount: Int { state.withLock { $0.requests.count } }

    /// The requests sent, including those that did not arrive.
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
    /// Sends the store's requests through a simulated network instead of the real one.
    public mutating func connect(to network: SimulatedNetwork) {
        transport = network
    }
}
