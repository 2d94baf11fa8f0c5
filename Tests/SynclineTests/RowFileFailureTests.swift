// Exports and imports while every call of the disk fails in turn: a file is the old or the new one, and an interrupted import
// is completed by repeating it.

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

    @Test func `an import that ends anywhere is completed by importing the file again`() async throws {
        let lines = (0..<60).map { "{\"id\":\"r\($0)\",\"n\":\($0),\"day\":\"2026-01-0\($0 % 9 + 1)T00:00:00Z\"}\n" }
        let files = MemoryStorage()
        try WholeFile("rows", in: files).replace(with: Array(lines.joined().utf8))
        func load(_ database: SyncDatabase) async throws(SyncError) -> Int {
            try await RowImport(database, "t", FilePlace("rows", in: files), .jsonLines, partSize: 2000).run()
        }
        func rows(_ database: SyncDatabase) async throws -> [StoredRow] {
            try await database.rows(of: "t").query(RowQuery(table: "t")).rows
        }
        let whole = try await SyncDatabase.open(MemoryStorage(), .test())
        try await whole.declareColumns(table: "t", ["day": .date])
        #expect(try await load(whole) == 60)
        let expected = try await rows(whole)
        var (call, begun) = (1, 0)
        while true {
            let disk = MemoryStorage()
            let database = try await SyncDatabase.open(disk, .test())
            try await database.declareColumns(table: "t", ["day": .date])
            disk.arm(FaultPlan(call: call, fault: .error(.diskFull), persists: true))
            let inserted = try? await load(database)
            if disk.counts.faults == 0 { break }
            #expect(inserted == nil, "call \(call)")
            let again = try await SyncDatabase.open(disk.processKill(), .test())
            let before = try await rows(again).count
            if before > 0 { begun += 1 }
            #expect(try await load(again) == 60 - before, "call \(call)")
            #expect(try await rows(again) == expected, "call \(call)")
            #expect(try await again.pending().map(\.kind) == Array(repeating: .insert, count: 60), "call \(call)")
            #expect(try await load(again) == 0, "call \(call)")
            call += 1
        }
        #expect(begun > 0)
    }
}
