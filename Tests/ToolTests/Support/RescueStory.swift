// A store with a retention, checkpoints, a branch and changes of another process, from a seed, and what was true of it
// before it was damaged.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineTool

/// What a change made of a row.
enum RowOutcome: Hashable {
    case value(Int64), deleted
}

final class RescueStory {
    let folder: TemporaryFolder
    var path: String { folder.path + "/store" }
    var rescued: String { folder.path + "/rescued" }
    /// The settings that never change.
    let settings: [String: Value]
    /// What each event made of its rows, in order.
    private(set) var history: [String: [(event: UInt64, outcome: RowOutcome)]] = [:]
    /// Rows of another process that are not in the log yet, one in each file.
    private(set) var waiting: [String] = []
    /// Every file as it was before any damage.
    private(set) var files: [String: [UInt8]] = [:]
    /// The frames that hold records.
    private(set) var frames: [Frame] = []
    /// What HEAD says.
    private(set) var head: Head

    /// A transaction in the log.
    struct Frame {
        var file: String
        var bytes: Range<Int>
        var records: SequenceRange
        var events: [(number: UInt64, event: Event)] = []
    }

    private let configuration: SyncConfiguration
    private let disk = MemoryStorage()
    private var step: Int64 = 0

    init(_ chance: inout Chance) async throws {
        folder = try TemporaryFolder()
        let retention: Retention = chance.pick([.everything, .events(3), .events(12)])
        let ids: IDComparison = chance.once(in: 3) ? .ignoreCase : .exact
        settings = [
            "backend": .string("https://example.com"), SettingName.serverProtocol: .string("datasync3"),
            SettingName.retention: .string(retention.description), "note": .integer(7),
        ].merging(ids == .ignoreCase ? [SettingName.ids: .string("ignore-case")] : [:]) { $1 }
        var configuration = SyncConfiguration(
            ids: ids, serverProtocol: .datasync3, environment: ManualEnvironment())
        configuration.settings = [("backend", .string("https://example.com")), ("note", .integer(7))]
        configuration.log.segmentSize = .kibibytes(4)
        configuration.log.zeroAhead = .bytes(chance.pick([0, 4096]))
        configuration.log.syncsWhenIdle = false
        self.configuration = configuration
        head = Head(
            identity: LogIdentity(high: 0, low: 0), floor: .first, newestOrdinal: 0, durableThrough: .none, epoch: 0,
            isClean: false)
        try await live(retention, &chance)
        try export()
        if chance.once(in: 2) { try await branch(chance.once(in: 2)) }
        files = try RescueStory.files(in: path)
        frames = try RescueStory.frames(of: POSIXStorage(directory: path))
        head = try #require(try LogCatalog(POSIXStorage(directory: path)).head)
    }

    // MARK: Its life

    private func live(_ retention: Retention, _ chance: inout Chance) async throws {
        var database = try await SyncDatabase.open(disk, configuration)
        try await database.set(retention: retention)
        for _ in 0..<(5 + chance.below(35)) {
            step += 1
            switch chance.below(12) {
            case 0..<5: try await change(database, "r\(chance.below(12))", &chance)
            case 5: try await change(database, "new\(step)", &chance)
            case 6:
                let rows = ["tx\(step)", "r\(chance.below(12))"]
                let isDone: Void? = try? await database.transaction { [step] transaction in
                    for id in rows { try transaction.update("t", .item(id, step)) }
                }
                if isDone != nil { for id in rows { note(id, .value(step), database) } }
            case 7: try await database.checkpoint()
            case 8, 9: try await database.compact()
            case 10:
                let follower = try await SyncDatabase.follow(disk, configuration)
                try await follower.rows(of: "t").insert(.item("f\(step)", step))
                try await follower.close()
                waiting.append("f\(step)")
            default:
                // An opening takes in what waits.
                try await database.close()
                database = try await SyncDatabase.open(disk, configuration)
                waiting = []
            }
        }
        if !chance.once(in: 3) { try await database.close() }
        withExtendedLifetime(database) {}
    }

    private func change(_ database: SyncDatabase, _ id: String, _ chance: inout Chance) async throws {
        if chance.once(in: 6) {
            if (try? await database.rows(of: "t").delete(id: id)) != nil { note(id, .deleted, database) }
            return
        }
        let text = String(repeating: "x\(step)", count: chance.below(150))
        // A row whose delete is pending can't be updated.
        guard (try? await database.rows(of: "t").update(.item(id, step, text: text))) != nil else { return }
        note(id, .value(step), database)
    }

    private func note(_ id: String, _ outcome: RowOutcome, _ database: SyncDatabase) {
        history[id, default: []].append((database.lastEvent.rawValue, outcome))
    }

    private func branch(_ isChanged: Bool) async throws {
        try #require(await Call.tool("branch", "create", "draft", "-s", path).exit == .done)
        guard isChanged else { return }
        try #require(await Call.tool("insert", "t", #"{"id":"b"}"#, "--branch", "draft", "-s", path).exit == .done)
    }

    // MARK: Its files

    private func export() throws {
        for (name, bytes) in disk.allNames().files.map({ ($0, disk.contents(of: $0) ?? []) }) {
            let url = URL(fileURLWithPath: path + "/" + name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url)
        }
    }

    static func files(in path: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isFolder)
            if !isFolder.boolValue {
                files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
            }
        }
        return files
    }

    private static func frames(of storage: POSIXStorage) throws -> [Frame] {
        let names = try LogCatalog(storage).segments
        var frames: [Frame] = []
        _ = try LogVerification(storage).run { found in
            guard [.data, .fragment].contains(found.kind),
                let name = names.first(where: { $0.ordinal == found.position.segment })
            else { return }
            let start = Int(found.position.offset)
            if found.continuesFromPrevious, var last = frames.popLast() {
                last.bytes = last.bytes.lowerBound..<start + Int(found.length.rawValue)
                last.records.last = max(last.records.last, found.records.last)
                frames.append(last)
            } else {
                frames.append(
                    Frame(file: name.name, bytes: start..<start + Int(found.length.rawValue), records: found.records))
            }
        }
        try EventWalk(storage).forEach { number, event in
            if let place = frames.firstIndex(where: { $0.records.contains(.init(rawValue: number)) }) {
                frames[place].events.append((number, event))
            }
            return true
        }
        return frames
    }
}

extension Value {
    fileprivate static func item(_ id: String, _ step: Int64, text: String = "") -> Value {
        .object([.init("id", .string(id)), .init("v", .integer(step)), .init("text", .string(text))])
    }
}
