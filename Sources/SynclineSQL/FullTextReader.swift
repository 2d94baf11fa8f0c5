// The full-text indexes that an app keeps beside its store, for a program that changes nothing there.

import Foundation
package import SynclineCore
import SynclineGround

package final class FullTextReader {
    private let file: FileConnection
    private let source: SQLSource
    private let numbers: [ExactString: Int]

    /// Nil if the store has no indexes, or if they are not at the event of the source.
    package convenience init?(_ source: SQLSource) {
        guard let path = FullText.path(source.storage), FileManager.default.fileExists(atPath: path) else { return nil }
        try? self.init(path, source)
    }

    private init?(_ path: String, _ source: SQLSource) throws {
        file = try FileConnection(reading: path)
        self.source = source
        // From here on, the file is seen as of one moment.
        try file.run("BEGIN")
        guard let stamp = try FileStamp.read(file), stamp.event == source.event,
            stamp.form.hasPrefix(FullTextContent.format),
            try stamp.record == ChangedRows.record(source.event, source.storage)
        else { return nil }
        var numbers: [ExactString: Int] = [:]
        for row in try file.run("SELECT name, number FROM syncline_text ORDER BY number DESC") {
            if case .string(let name) = row[0], case .integer(let number) = row[1] {
                numbers[ExactString(name)] = Int(number)
            }
        }
        self.numbers = numbers
    }

    /// Returns the rows of a table that match, the best first; nil if the table has no index.
    package func search(_ table: String, _ query: TextQuery) throws(SyncError) -> [TextMatch]? {
        guard let number = numbers[ExactString(table)] else { return nil }
        if query.expression.isEmpty { return [] }
        do throws(FileFailure) {
            return try FullText.matches(try FullText.run(query, number, file), of: table, source)
        } catch {
            throw SyncError(error)
        }
    }
}
