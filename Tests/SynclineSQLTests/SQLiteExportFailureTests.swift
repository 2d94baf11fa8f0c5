// An export to an SQLite file while every call that changes the file fails in turn: the file is the old or the new one.

import CSQLite
import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite(.serialized, .timeLimit(.minutes(10))) struct SQLiteExportFailureTests {
    @Test(arguments: [SQLITE_FULL, SQLITE_IOERR])
    func `an export that fails leaves the file as it was`(code: Int32) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/rows.sqlite"
        let database = try await SyncDatabase.open(MemoryStorage())
        for number in 0..<3 {
            let text = String(repeating: "x", count: 40_000)
            try await database.rows(of: "t").insert(["id": .string("\(number)"), "text": .string(text)])
        }
        var call = 1
        while true {
            try Data("before".utf8).write(to: URL(filePath: path))
            FailingFiles.arm(call: call, code: code, below: folder.path)
            var failure: SyncError?
            do throws(SyncError) {
                _ = try await database.export(as: .sqlite, to: path)
            } catch {
                failure = error
            }
            guard FailingFiles.disarm() else { break }
            let isFull = code == SQLITE_FULL && call > 1
            #expect(failure?.code == (isFull ? .diskFull : .ioError), "call \(call): \(failure as Any)")
            #expect(failure?.message.contains(path) == true, "call \(call): \(failure as Any)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "before", "call \(call)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["rows.sqlite"], "call \(call)")
            call += 1
        }
        // More than one for each page of the texts.
        #expect(call > 30)
        #expect(try PlainSQLite(path).run("select count(*) from t") == [[3]])
    }
}
