// HTTP conditions on the row that will be changed or read. The older protocol supports only `If-Match`.

package import SynclineCore
package import SynclineWire

package struct WriteConditions: Hashable, Sendable {
    package var match: TableRequest.Condition?
    /// `If-None-Match`.
    package var noneMatch: TableRequest.Condition?
    package var unmodifiedSince: Timestamp.Instant?

    /// The reason not to write a row; nil if it may be written. `version` is the version in the body of an older
    /// client.
    package func refusal(_ row: TableRow, _ version: String?, isOld: Bool) -> Refusal? {
        if let match {
            guard match.allows(row.version) else { return WriteConditions.failed }
        } else if isOld, let version, version != row.version {
            return Refusal(409, "version-conflict", "The item has another version")
        }
        if noneMatch?.allows(row.version) == true { return WriteConditions.failed }
        if let unmodifiedSince, row.updatedAt.seconds > unmodifiedSince.seconds { return WriteConditions.failed }
        return nil
    }

    private static let failed = Refusal(412, "version-conflict", "The item does not have the requested version")
}
