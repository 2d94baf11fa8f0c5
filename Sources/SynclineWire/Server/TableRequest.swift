// A client's request to a table, parsed from HTTP of either protocol for both the simulated server and the real one.
// Errors that do not depend on a row are found here.

package import SynclineCore

/// A request to a table.
package struct TableRequest: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case list(ListRequest)
        case row
        case insert(TableItem)
        /// Sets the given columns.
        case update(TableItem)
        /// Replaces all columns by the given ones.
        case replace(TableItem)
        /// Changes the columns by a JSON Patch.
        case patch(JSONPatch)
        case delete
        case undelete
    }

    /// What `If-Match` requires of the row.
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

    /// The protocol of this request and its response.
    package var serverProtocol: ServerProtocol
    package var table: String
    /// Empty for a list and for an insert without an id.
    package var id = ""
    package var action: Action
    package var condition: Condition?
    package var includesDeleted = false
    /// The same on every retry of a write.
    package var operationID: String?
}

/// The body of a write.
package struct TableItem: Hashable, Sendable {
    /// Nil or empty if the server creates one.
    package var id: String?
    /// The columns that a client may set.
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

/// Why a request is not a valid request to a table.
package struct TableRequestError: Error, Hashable, Sendable {
    package var status: Int
    package var message: String
    /// A stable kebab-case code for programs.
    package var code: String

    package init(_ status: Int, _ message: String, code: String = "invalid-request") {
        (self.status, self.message, self.code) = (status, message, code)
    }
}
