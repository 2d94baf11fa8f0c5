// A store is created while every disk call fails in turn, once and permanently, and then the process is killed or
// the power fails: there is no store then, or a complete one. Creating it again succeeds, unless the first call had
// already succeeded.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct CreationTests {
    /// What the tool's `init` does.
    private func create(_ storage: any LogStorage, backend: String) async throws {
        var configuration = SyncConfiguration.test()
        configuration.creation = .always
        configuration.ids = .ignoreCase
        configuration.serverProtocol = .datasync3
        configuration.settings = [("backend", .string(backend))]
        try await SyncDatabase.open(storage, configuration).close()
    }

    /// The result, after a kill or a power failure.
    private func check(_ disk: MemoryStorage, isDone: Bool, _ comment: Comment) async throws {
        var configuration = SyncConfiguration.test()
        configuration.creation = .never
        let copy = MemoryStorage(disk.copy(), granularity: .sector)
        do throws(SyncError) {
            let database = try await SyncDatabase.open(copy, configuration)
            #expect(try await settings(database) == ["datasync3", "ignore-case", "first"], comment)
            try await database.close()
        } catch {
            #expect(error.code == .noStore && !isDone, comment)
        }
        do throws(any Error) {
            try await create(disk, backend: "second")
            #expect(!isDone, comment)
            try await SyncDatabase.open(disk, configuration).close()
            let database = try await SyncDatabase.open(disk, configuration)
            #expect(try await settings(database) == ["datasync3", "ignore-case", "second"], comment)
            #expect(try await database.setting("device") != nil, comment)
            _ = try StateImage.check(disk, "made again")
        } catch {
            // The clean flag may be there although its sync failed.
            let wasClosed = try LogCatalog.readHead(disk).head?.isClean == true
            #expect((isDone || wasClosed) && (error as? SyncError)?.code == .storeExists, comment)
        }
    }

    private func settings(_ database: SyncDatabase) async throws(SyncError) -> [String?] {
        var texts: [String?] = []
        for name in ["protocol", SettingName.ids, "backend"] {
            if case .string(let text)? = try await database.setting(name) {
                texts.append(text)
            } else {
                texts.append(nil)
            }
        }
        return texts
    }

    @Test(arguments: [StorageError.Kind.diskFull, .inputOutput], [false, true])
    func `a store is created completely or not at all`(error: StorageError.Kind, persists: Bool) async throws {
        var call = 1
        while true {
            let disk = MemoryStorage(granularity: .sector)
            disk.arm(FaultPlan(call: call, fault: .error(error), persists: persists))
            var isDone = true
            do { try await create(disk, backend: "first") } catch { isDone = false }
            if disk.counts.faults == 0 { break }
            disk.disarm()
            let count = min(disk.pendingItemCount, 4)
            for subset in 0..<1 << count {
                let crashed = disk.crash { $0 >= count || subset >> $0 & 1 == 1 }
                try await check(crashed, isDone: isDone, "call \(call), crash \(subset)")
            }
            try await check(disk.processKill(), isDone: isDone, "call \(call), killed")
            call += 1
        }
        #expect(call > 15)
    }
}
