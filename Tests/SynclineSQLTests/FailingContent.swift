// A mirror whose updates fail after all rows are written.

import SynclineCore

@testable import SynclineSQL

struct FailingContent: FileContent {
    private let mirror = MirrorContent()

    func form(_ source: SQLSource) throws(SyncError) -> String { try mirror.form(source) }
    func includes(_ table: String) -> Bool { mirror.includes(table) }

    func writer(_ file: FileConnection, _ reader: StateReader) throws(SyncError) -> any FileWriter {
        FailingWriter(try mirror.writer(file, reader))
    }
}

private final class FailingWriter: FileWriter {
    private let writer: any FileWriter

    init(_ writer: any FileWriter) {
        self.writer = writer
    }

    func recreate() throws(FileFailure) { try writer.recreate() }
    func put(_ row: StoredRow, of table: String) throws(FileFailure) { try writer.put(row, of: table) }
    func remove(_ id: String, of table: String) throws(FileFailure) { try writer.remove(id, of: table) }
    func removeAll(of table: String) throws(FileFailure) { try writer.removeAll(of: table) }

    func scrub() {}
    func finish(_ source: SQLSource) throws(FileFailure) {
        throw .failed(SyncError(.ioError, "the test fails this update"))
    }
}
