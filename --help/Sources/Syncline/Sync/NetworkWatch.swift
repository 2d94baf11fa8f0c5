// Notices that a network is available again, on systems that report it.

/// Whether there is a network, as far as it was reported.
struct NetworkPresence {
    private var isThere = true

    /// Notes a report; returns whether the network has come back with it.
    mutating func note(isThere now: Bool) -> Bool {
        defer { isThere = now }
        return now && !isThere
    }
}

#if canImport(Network)
    import Dispatch
    import Network
    import SynclineGround

    /// Watches the paths to the network until it is ended.
    final class NetworkWatch: Sendable {
        private let monitor = NWPathMonitor()

        init(_ isBack: @escaping @Sendable () -> Void) {
            let presence = Mutex(NetworkPresence())
            monitor.pathUpdateHandler = { path in
                if presence.withLock({ $0.note(isThere: path.status == .satisfied) }) { isBack() }
            }
            monitor.start(queue: DispatchQueue(label: "Syncline.NetworkWatch"))
        }

        func end() { monitor.cancel() }
    }
#endif
