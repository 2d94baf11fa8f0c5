// A checkpoint whose value differs from what the events made, with all checksums right: the tool names it, sets it
// aside, and the log returns the true rows again.

import Foundation
import SegmentLog
import SynclineCore
import Testing

@testable import Syncline
@testable import SynclineTool

@Suite struct ForgedCheckpointTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/store" }

    init() throws { folder = try TemporaryFolder() }

    private func call(_ words: String...) async -> Call { await Call.tool(words: words + ["-s", path]) }

    /// Writes the newest checkpoint again with another value in one row.
    private func forge(_ id: String) throws {
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        let log = try LogWriter.open(at: path, creating: .never, configuration: configuration)
        let through = try #require(try Checkpoint.list(log.storage).first)
        let projector = try CheckpointFile.open(log.storage, through, log.identity, removesDamaged: false)
        let file = try Checkpoint.open(log.storage, through: through, identity: log.identity)
        var note = try CheckpointFile.Note(reading: file.note)
        let key = RowKey.bytes("t", id, .exact)
        let store = StateStore()
        try projector.store.snapshot.forEach(prefix: []) { found, value in
            var value = [UInt8](value)
            if [UInt8](found) == key, let place = value.lastIndex(of: UInt8(ascii: "k")) {
                value[place] = UInt8(ascii: "l")
            }
            value.withUnsafeBytes { store.put(found, $0, old: nil) }
            return true
        }
        store.rotate()
        var writer = try CheckpointWriter.begin(for: log, through: through)
        let root = try RunWriter.write(try store.layers.cursorOverRuns(0)) { block throws(SyncError) in
            try CheckpointBlocks.append(block, to: &writer)
        }
        note.runs = [(through.rawValue, root)]
        try writer.finish(note: note.bytes, keeping: [through])
        try log.close()
    }

    @Test func `a wrong checkpoint is named and set aside, and nothing is lost`() async throws {
        #expect(await call("init").exit == .done)
        _ = await call("insert", "t", #"{"id":"a","text":"milk"}"#)
        _ = await call("insert", "t", #"{"id":"b","text":"bread"}"#)
        _ = await call("checkpoint")
        #expect(await call("verify", "--deep").exit == .done)
        try forge("a")
        #expect(await call("get", "t", "a").output.contains("mill"))
        for words in [["verify"], ["verify", "--deep"], ["replay"]] {
            let found = await Call.tool(words: words + ["-s", path])
            #expect(found.exit == .no && found.output.contains("its entries do not match"), "\(words)")
        }
        _ = await call("config", "retention", "1 events")
        let kept = await call("compact", "--json")
        #expect(kept.exit == .failed && kept.output.contains("store-corrupt"))
        #expect(await call("log", "@1").exit == .done)
        let repaired = await call("repair")
        #expect(repaired.exit == .done && repaired.output.contains("into quarantine"), "\(repaired.output)")
        #expect(await call("get", "t", "a").output.contains("milk"))
        #expect(await call("verify", "--deep").exit == .done)
        #expect(await call("compact").exit == .done)
        #expect(await call("verify", "--deep").exit == .done)
    }
}
