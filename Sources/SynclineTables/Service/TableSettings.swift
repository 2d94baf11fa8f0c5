// An operator's settings for the service, which do not depend on where the rows are stored.

package import SynclineCore
package import SynclineWire

package struct TableSettings: Sendable {
    package var tables: [TableDefinition] = []
    /// The definition of every other table; nil if there is none.
    package var others: TableDefinition?
    /// The path of the tables.
    package var root = "/tables"
    /// The protocol of a request without a version.
    package var defaultProtocol = ServerProtocol.zumo2
    /// How requests are read.
    package var rules = RequestRules.peers
    package var pageSize = Int.max
    /// The maximum size of an answer.
    package var answerBytes = Int.max

    package init() {}
}
