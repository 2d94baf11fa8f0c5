// An export while every call of the disk fails in turn: the file is the old or the new one.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct RowFileFailureTests {
    private func content(_ disk: MemoryStorage) throws -> String? {
        try WholeFile("rows", in: disk).read().map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [StorageError.Kind.diskFull, .inputOutput], [RowFormat.csv, .jsonLines].indices)
    func `an export that fails leaves the file as it was`(error: StorageError.Kind, format: Int) async throws {
        let format = [RowFormat.csv, .jsonLines][format]
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        for number in 0..<3 {
            let text = String(repeating: "x", count: 40_000)
            try await database.rows(of: "t").insert(["id": .string("\(number)"), "text": .string(text)])
        }
        let whole = MemoryStorage()
        try #expect(database.present.export(["t"], as: format, to: FilePlace("rows", in: whole)) == 3)
        var call = 1
        while true {
            let disk = MemoryStorage()
            try WholeFile("rows", in: disk).replace(with: Array("before".utf8))
            disk.arm(FaultPlan(call: call, fault: .error(error), persists: false))
            var failure: SyncError?
            do throws(SyncError) {
                _ = try database.present.export(["t"], as: format, to: FilePlace("rows", in: disk))
            } catch {
                failure = error
            }
            if disk.counts.faults == 0 { break }
            disk.disarm()
            // The last call makes the new name durable.
            let isNew = try content(disk) == content(whole)
            #expect(try isNew || content(disk) == "before", "call \(call)")
            if let failure {
                #expect(failure.code == (error == .diskFull ? .diskFull : .ioError), "call \(call)")
                #expect(try disk.names(in: "") == ["rows"], "call \(call)")
            }
            call += 1
        }
        #expect(call > 6)
    }
}
