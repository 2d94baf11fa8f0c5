// Makes a local filter divide numbers in the same way as the store's server.

extension StateReader {
    /// Returns a filter with the meaning that the store's server gives it.
    func asServerDivides(_ filter: FilterExpression?) throws(SyncError) -> FilterExpression? {
        guard let filter, filter.divides else { return filter }
        let cuts = try setting(SettingName.serverProtocol) == .string(ServerProtocol.datasync3.rawValue)
        return cuts ? filter : filter.dividingAsDoubles
    }
}
