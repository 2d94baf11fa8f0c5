// Hears of commits in other processes by a notification of PostgreSQL, on a connection and a thread of its own. Without
// it, for example through a pooler that lends sessions, they are noticed a moment later.

import SynclineGround
import SynclineTables

final class PostgresListening: Sendable {
    private let isOver = Atomic(false)

    /// Listens until it is ended. After a failure it connects again.
    init(
        _ url: String, _ channel: String, _ interruption: Interruption, _ body: @escaping @Sendable (Int64) -> Void
    ) {
        let waits = PostgresWaitLimits(interruption: interruption, isForRequests: false)
        OwnThread.run { [self] in
            while !isOver.load(ordering: .acquiring) {
                do throws(StoreFailure) {
                    let connection = try PostgresConnection(url: url, waits: waits)
                    if connection.isLent { return }
                    try connection.execute("LISTEN \(channel)")
                    body(.max)
                    while !isOver.load(ordering: .acquiring) {
                        if let number = try connection.notification(within: 200) { body(number) }
                    }
                } catch {
                    Duration.seconds(1).block()
                }
            }
        }
    }

    func end() { isOver.store(true, ordering: .releasing) }
}
