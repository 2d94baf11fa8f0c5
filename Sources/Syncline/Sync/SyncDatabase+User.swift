// Keeps the rows and changes of one user from the token of another.

import SynclineCore

extension SyncDatabase {
    /// Throws if the store has the rows and changes of another user than the token's, or if the token does not say whose it is.
    /// The first user becomes the store's.
    func admit(_ token: AccessToken?) async throws(SyncError) {
        let user = token?.user.map { StoreUser($0) }
        guard try read({ reader throws(SyncError) in try reader.admission(of: user) }) != nil else { return }
        try await perform(.durable) { engine throws(SyncError) in
            // Another request may have brought a user meanwhile.
            if let event = try engine.reader.admission(of: user) { try engine.record(event) }
        }
    }
}
