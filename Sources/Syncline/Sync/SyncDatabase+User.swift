// Keeps the rows and changes of one user from the token of another.

import SegmentLog
import SynclineCore

extension SyncDatabase {
    /// Throws if the store has rows or changes of another user than the token's. The first user becomes the store's.
    ///
    /// - Parameter mayTakeOver: Whether a store without either may become another user's. Not within a pull, whose cursor
    ///   would stay.
    func admit(_ token: AccessToken?, mayTakeOver: Bool = false) async throws(SyncError) {
        guard let name = token?.user else { return }
        let user = StoreUser(name)
        if try read({ reader throws(SyncError) in try reader.user }) == user { return }
        try await perform(.durable) { [storage] engine throws(SyncError) in
            let mayTakeOver = mayTakeOver ? try engine.reader.isAlone(storage) : false
            for event in try engine.reader.admission(of: user, mayTakeOver: mayTakeOver) { try engine.record(event) }
        }
    }
}

extension StateReader {
    /// Whether a storage has neither branches nor changes of followers that are not in the log.
    fileprivate func isAlone(_ storage: any LogStorage) throws(SyncError) -> Bool {
        guard try Branches.names(storage).isEmpty else { return false }
        let takenIn = try takenIn
        return try Tributaries.all(storage).allSatisfy(takenIn.contains)
    }
}
