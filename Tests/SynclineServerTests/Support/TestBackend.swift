// The databases that the same tests run on.

import Foundation
import Testing

@testable import SynclineServer

enum TestBackend: String, CaseIterable, CustomTestStringConvertible {
    case sqlite

    var testDescription: String { rawValue }

    /// An empty database, and what keeps it.
    func database() throws -> (any SQLDatabase, AnyObject) {
        switch self {
        case .sqlite:
            let folder = try TemporaryFolder()
            return (try SQLiteDatabase(path: folder.path + "/test.db"), folder)
        }
    }

    static var available: [TestBackend] { [.sqlite] }
}
