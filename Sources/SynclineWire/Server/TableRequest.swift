// What a client asks of a table, read from HTTP of either protocol: the simulated server and the real one answer the same
// requests. What is wrong with a request is found here where it can be seen without looking at a row.

package import SynclineCore

/// A request to a table.
package struct TableRequest: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case list(ListRequest)
        case row
        case insert(TableItem)
        /// Sets the columns given.
        case update(TableItem)
        /// Sets all columns to those given.
        case replace(TableItem)
        /// Changes the columns as a list of operations says.
        case patch(JSONPatch)
        case delete
        case undelete
    }

    /// What `If-Match` asks of the row.
    package enum Condition: Hashable, Sendable {
        case any
        case versions([String])

        package func allows(_ version: String) -> Bool {
            switch self {
            case .any: true
            case .versions(let versions): versions.contains(version)
            }
        }
    }

    /// The protocol that this request speaks, and its answer must.
    package var serverProtocol: ServerProtocol
    package var table: String
    /// Empty for a list and for an insert without an id.
    package var id = ""
    package var action: Action
    package var condition: Condition?
    package var includesDeleted = false
    /// The same on every repeat of a write.
    package var operationID: String?
}

/// The body of a write.
package struct TableItem: Hashable, Sendable {
    /// Nil or empty where the server is to make one.
    package var id: String?
    /// The columns that are a client's to set.
    package var columns: Row
    package var version: String?
    package var isDeleted: Bool?

    package init(id: String? = nil, columns: Row, version: String? = nil, isDeleted: Bool? = nil) {
        self.id = id
        self.columns = columns
        self.version = version
        self.isDeleted = isDeleted
    }
}

/// Why a request is no request to a table.
package struct TableRequestError: Error, Hashable, Sendable {
    package var status: Int
    package var message: String
    /// A stable kebab-case name for programs.
    package var code: String
    /// The protocol to say so in.
    package var serverProtocol: ServerProtocol

    package init(
        _ status: Int, _ message: String, _ serverProtocol: ServerProtocol, code: String = "invalid-request"
    ) {
        self.status = status
        self.message = message
        self.code = code
        self.serverProtocol = serverProtocol
    }
}
