// A store divides as its server does.

extension StateReader {
    /// A filter as the store's server means it.
    func asServerDivides(_ filter: Expression?) throws(StateError) -> Expression? {
        guard let filter, filter.divides else { return filter }
        let cuts = try setting("protocol") == .string(ServerProtocol.datasync3.rawValue)
        return cuts ? filter : filter.dividingAsDoubles
    }
}
