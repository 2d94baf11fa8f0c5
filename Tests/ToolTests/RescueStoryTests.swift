// Stores in which several things are damaged together are rescued with all that can be read, and a rescue never says that
// nothing is missing where something may be.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineTool

@Suite(.timeLimit(.minutes(60))) struct RescueStoryTests {
    private static let seeds = Seeds.some(40)

    @Test(arguments: RescueStoryTests.seeds)
    func `what is damaged together is rescued as far as it can be read`(seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let story = try await RescueStory(&chance)
        var said: [String] = []
        for _ in 0..<(1 + chance.below(4)) { said.append(try damage(story, &chance)) }
        let comment = Comment(rawValue: "seed \(seed): \(said.joined(separator: ", "))")
        let left = try RescueStory.files(in: story.path)

        let call = await Call.tool("repair", "--salvage", story.rescued, "--json", "-s", story.path)
        if intact(story, left).isEmpty, !checkpoints(story).contains(where: { isSame($0, story, left) }) {
            // Nothing of the store is left.
            #expect(call.exit != .done, comment)
            return
        }
        let report = try #require(try call.object()["salvaged"] as? [String: Any], "\(call.output) \(comment)")
        #expect(call.exit == .done || call.exit == .no, comment)
        if mayMiss(story, left) { #expect(call.exit == .no, "\(call.output) \(comment)") }

        let verify = await Call.tool("verify", "--deep", "-s", story.rescued)
        #expect(verify.exit == .done, "\(verify.output)\(verify.errors) \(comment)")
        let state = try StateLoader(POSIXStorage(directory: story.rescued)).load()
        let reader = state.reader(of: state.store.endCommit())
        try checkSettings(story, left, reader, comment)
        try checkRows(story, left, reader, report, comment)
        try await checkOthers(story, left, comment)
    }

    // MARK: Damage

    private func damage(_ story: RescueStory, _ chance: inout Chance) throws -> String {
        let names = try RescueStory.files(in: story.path).keys.sorted()
        let segments = names.filter { !$0.contains("/") && $0.hasSuffix(FileName.segmentSuffix) }
        let checkpoints = names.filter { !$0.contains("/") && $0.hasSuffix(FileName.checkpointSuffix) }
        let others = names.filter { $0.hasPrefix(FileName.tributaries) || $0.hasPrefix("branches/draft/0") }
        switch chance.below(9) {
        case 0:
            try? FileManager.default.removeItem(atPath: story.path + "/" + FileName.head)
            return "no HEAD"
        case 1: return try flip(FileName.head, story, &chance)
        case 2, 3:
            guard let last = segments.last else { return "nothing" }
            return try change(last, story) { bytes in
                let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
                bytes.removeSubrange(max(0, end - chance.below(400))...)
            } + " cut"
        case 4:
            for name in checkpoints { _ = try flip(name, story, &chance) }
            return "all checkpoints"
        case 5: return try checkpoints.isEmpty ? "nothing" : flip(chance.pick(checkpoints), story, &chance)
        case 6: return try others.isEmpty ? "nothing" : flip(chance.pick(others), story, &chance)
        case 7:
            guard let name = segments.last, let (ordinal, first) = FileName.parseSegment(chance.pick(segments)) else {
                return "nothing"
            }
            let copy = FileName.segment(ordinal: ordinal + 1, first: SequenceNumber(rawValue: first.rawValue + 1000))
            guard !names.contains(copy) else { return "nothing" }
            try FileManager.default.copyItem(atPath: story.path + "/" + name, toPath: story.path + "/" + copy)
            return "\(name) copied as \(copy)"
        default: return try segments.isEmpty ? "nothing" : flip(chance.pick(segments), story, &chance)
        }
    }

    private func flip(_ name: String, _ story: RescueStory, _ chance: inout Chance) throws -> String {
        guard FileManager.default.fileExists(atPath: story.path + "/" + name) else { return "nothing" }
        var place = 0
        return try change(name, story) { bytes in
            guard let end = bytes.lastIndex(where: { $0 != 0 }) else { return }
            place = chance.below(end + 1)
            bytes[place] ^= 1 << UInt8(chance.below(8))
        } + " byte \(place)"
    }

    private func change(_ name: String, _ story: RescueStory, _ body: (inout [UInt8]) -> Void) throws -> String {
        let url = URL(fileURLWithPath: story.path + "/" + name)
        var bytes = [UInt8](try Data(contentsOf: url))
        body(&bytes)
        try Data(bytes).write(to: url)
        return name
    }

    // MARK: What is left

    /// The frames that are as they were, in their file or a copy of it.
    private func intact(_ story: RescueStory, _ left: [String: [UInt8]]) -> [RescueStory.Frame] {
        story.frames.filter { frame in
            guard let before = story.files[frame.file]?[frame.bytes] else { return false }
            return left.contains { name, bytes in
                !name.contains("/") && name.hasSuffix(FileName.segmentSuffix) && bytes.count >= frame.bytes.upperBound
                    && bytes[frame.bytes] == before
            }
        }
    }

    private func isSame(_ name: String, _ story: RescueStory, _ left: [String: [UInt8]]) -> Bool {
        left[name] == story.files[name]
    }

    private func mayMiss(_ story: RescueStory, _ left: [String: [UInt8]]) -> Bool {
        let known = intact(story, left).map(\.records)
        // As after a crash, nothing shows that what followed in the file was ever acknowledged.
        let attested = story.head.isClean ? UInt64.max : story.head.durableThrough.rawValue
        let lost = story.frames.filter { !known.contains($0.records) }
        if lost.contains(where: { $0.records.last.rawValue <= attested || $0.file != story.frames.last?.file }) {
            return true
        }
        // What says that nothing is missing, or is acknowledged itself.
        let kept = story.files.keys.filter {
            $0 == FileName.head || $0.hasPrefix(FileName.tributaries) || $0.hasPrefix("branches/draft/0")
        }
        return !kept.allSatisfy { isSame($0, story, left) }
            || (story.frames.first?.records.first ?? .first) > .first
                && !checkpoints(story).contains { isSame($0, story, left) }
    }

    /// Whether a checkpoint is as it was, with all that it may need.
    private func hasCheckpoint(_ story: RescueStory, _ left: [String: [UInt8]]) -> Bool {
        !checkpoints(story).isEmpty && checkpoints(story).allSatisfy { isSame($0, story, left) }
    }

    private func checkpoints(_ story: RescueStory) -> [String] {
        story.files.keys.filter { !$0.contains("/") && $0.hasSuffix(FileName.checkpointSuffix) }
    }

    // MARK: What is rescued

    private func checkSettings(
        _ story: RescueStory, _ left: [String: [UInt8]], _ reader: StateReader, _ comment: Comment
    ) throws {
        var known: Set<String> = hasCheckpoint(story, left) ? Set(story.settings.keys) : []
        for (_, event) in intact(story, left).flatMap(\.events) {
            if case .configured(let name, _?) = event.body { known.insert(name) }
        }
        for (name, value) in story.settings where known.contains(name) {
            #expect(try reader.setting(name) == value, "\(name) \(comment)")
        }
    }

    /// Each row is as the newest change says that can be read, or as a later one.
    private func checkRows(
        _ story: RescueStory, _ left: [String: [UInt8]], _ reader: StateReader, _ report: [String: Any],
        _ comment: Comment
    ) throws {
        var newest: [String: UInt64] = [:]
        for (number, event) in intact(story, left).flatMap(\.events) {
            switch event.body {
            case .local(let transaction): for change in transaction.changes { newest[change.id] = number }
            case .carried(_, let rows):
                for row in rows { newest[row.id] = max(newest[row.id] ?? 0, row.changes.last?.position.event ?? 0) }
            default: break
            }
        }
        if hasCheckpoint(story, left), let through = try Checkpoint.list(POSIXStorage(directory: story.path)).first {
            for (id, changes) in story.history {
                let last = changes.last { $0.event <= through.rawValue }
                if let last { newest[id] = max(newest[id] ?? 0, last.event) }
            }
        }
        let leftOut = (report["leftOut"] as? [String] ?? []).map { text in
            let ends = text.dropFirst().split(separator: ".").compactMap { UInt64($0) }
            return (ends.first ?? 0)...(ends.last ?? 0)
        }
        for (id, changes) in story.history {
            guard let event = newest[id], !leftOut.contains(where: { $0.contains(event) }) else { continue }
            let allowed = Set(changes.filter { $0.event >= event }.map(\.outcome))
            let row = try reader.row("t", id)
            var found = RowOutcome.deleted
            if case .integer(let value)? = row?.columns["v"] { found = .value(value) }
            #expect(allowed.contains(found), "\(id) is \(found), and not one of \(allowed), after @\(event) \(comment)")
        }
    }

    /// Changes of other processes are taken in, and whole branches are there.
    private func checkOthers(_ story: RescueStory, _ left: [String: [UInt8]], _ comment: Comment) async throws {
        let files = story.files.keys.filter { $0.hasPrefix(FileName.tributaries) }
        let draft = story.files.keys.filter { $0.hasPrefix("branches/draft/") }
        let isWhole = !draft.isEmpty && draft.allSatisfy { isSame($0, story, left) }
        let branches = try await Call.tool("branch", "list", "--json", "-s", story.rescued).array()
        #expect(branches.count == (isWhole ? 1 : 0), comment)
        let insert = await Call.tool("insert", "t", #"{"id":"last"}"#, "-s", story.rescued)
        #expect(insert.exit == .done, "\(insert.errors) \(comment)")
        let rows = try await Call.tool("query", "t", "--json", "-s", story.rescued).array()
        let ids = Set(rows.compactMap { $0["id"] as? String })
        #expect(ids.contains("last"), comment)
        let takenIn = story.waiting.filter(ids.contains).count
        #expect(takenIn >= files.filter { isSame($0, story, left) }.count, "\(takenIn) of \(files) \(comment)")
    }
}
