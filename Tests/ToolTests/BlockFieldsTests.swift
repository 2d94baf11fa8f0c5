// The bytes of a checkpoint: every one of its blocks, of its note and of its header is in exactly one field, and the fields
// say what the second decoder (Tests/Outside/state.py) reads.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import SynclineTool

@Suite struct BlockFieldsTests {
    #if DEBUG
        private static let tables = 200
    #else
        private static let tables = 1000
    #endif

    /// A block as the second decoder reads it.
    private struct Block: Decodable {
        var file: UInt64
        var address: UInt64
        var entries: [[String?]]
        var columns: [[String]]?
    }

    private static func blocks(_ path: String) throws -> [Block] {
        let script = Process()
        script.executableURL = URL(filePath: "/usr/bin/env")
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        script.arguments = ["python3", "-B", root.appending(path: "Outside/state.py").path, "--blocks", path]
        let output = Pipe()
        script.standardOutput = output
        try script.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        script.waitUntilExit()
        guard script.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
        return try said.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Block.self, from: $0) }
    }

    /// The values of a column that has some kind.
    private static func value(_ kind: Int, _ row: Int, _ chance: inout Chance) -> Value {
        if kind >= 12, chance.once(in: 4) { return .null }
        switch kind % 12 {
        case 0: return .string("the same in all rows")
        case 1: return .bool(chance.once(in: 2))
        case 2: return .integer(Int64(chance.below(100_000)) - 50_000)
        case 3: return .string("2026-05-19T21:30:\(10 + chance.below(50)).000Z")
        case 4: return .string("note \(chance.next()) of the \(chance.pick(["garden", "kitchen", "house"]))")
        case 5: return .string(chance.pick(["open", "done", "waiting \u{202e}"]))
        case 6: return .array([.integer(Int64(chance.below(60)))])
        case 7: return chance.pick([.integer(7), .string("seven"), .double(7.5), .bool(true), .null])
        case 8: return row % 2 == 0 ? .integer(Int64(bitPattern: chance.next())) : .string("\(chance.next())")
        case 9: return .double(Double(chance.below(1000)) / 8)
        case 10: return .string(chance.letters(12 + chance.below(12)))
        default: return .object([.init("n", .integer(Int64(row)))])
        }
    }

    private static func id(_ table: Int, _ row: Int, _ chance: inout Chance) -> String {
        switch table % 3 {
        case 0: "r\(1000 + row)"
        case 1: "row \(row) \(String(repeating: "y", count: chance.below(9)))"
        default: UUID(uuid: chance.uuid).uuidString.lowercased()
        }
    }

    /// A store with a checkpoint, in which each table has a block in columns of its own.
    private static func store(_ path: String, tables: Int, seed: UInt64) async throws {
        let database = try await SyncDatabase.open(at: path)
        for table in 0..<tables {
            try await database.transaction { transaction in
                var chance = Chance(seed: seed &* 1000 &+ UInt64(table))
                // The symbols are made from the texts of the first tables.
                let kinds = table < 8 ? [4, 10] : (0...chance.below(5)).map { _ in chance.below(24) }
                for row in 0..<(32 + chance.below(20)) {
                    let members = kinds.enumerated().map { place, kind in
                        Value.Member("c\(place)", value(kind, row, &chance))
                    }
                    let item = [Value.Member("id", .string(id(table, row, &chance)))] + members
                    try transaction.insert("t\(1000 + table)", .object(item))
                }
            }
        }
        try await database.checkpoint()
        try await database.close()
    }

    /// What the fields of a column say of its rows.
    private static func texts(_ fields: [FrameField], _ name: String, rows: Int) -> [String] {
        let own = fields.filter { $0.name.hasPrefix(name + ": ") }
        func value(_ what: String) -> String? { own.first { $0.name == "\(name): \(what)" }?.value }
        func numbers(_ what: String) -> [UInt64] {
            value(what)?.split(separator: " ").compactMap { UInt64($0) } ?? Array(repeating: 0, count: rows)
        }
        let encoding = value("encoding").flatMap { Int($0.prefix(1)) } ?? 0
        let found = (0..<rows).map { row -> String in
            switch encoding {
            case 1: return value("value of all rows") ?? ""
            case 2: return numbers("a bit for each row")[row] == 1 ? "true" : "false"
            case 3, 4:
                let least = Int64(value("the least") ?? "") ?? 0
                let number = least &+ Int64(bitPattern: numbers("what each row has above it")[row])
                return encoding == 3 ? "\(number)" : "\"\(Timestamp(.init(milliseconds: number), decimals: 3))\""
            case 7: return value("value \(numbers("the value of each row, from 0")[row])") ?? ""
            // An empty string has no bytes.
            case 5, 6: return value("row \(row + 1)") ?? "\"\""
            default: return value("row \(row + 1)") ?? ""
            }
        }
        let nulls = numbers("whether each row is null")
        return found.enumerated().map { nulls[$0.offset] == 1 ? "null" : $0.element }
    }

    /// The keys and values of a block of rows, as its fields have them.
    private static func entries(_ fields: [FrameField]) -> [[String?]] {
        var (key, found, shared) = ([UInt8](), [[String?]](), 0)
        for field in fields where field.part == .payload {
            if field.name.hasPrefix("shared bytes") { shared = Int(field.value) ?? 0 }
            if field.name.hasPrefix("length of value") {
                found.append([nil, field.value == "removed" ? nil : ""])
            }
            if field.name.hasPrefix("rest of key"), !field.name.hasSuffix("length") {
                key = Array(key.prefix(shared)) + field.bytes
                found[found.count - 1][0] = Hexadecimal.text(of: key)
            }
            if field.name.hasPrefix("value ") { found[found.count - 1][1] = Hexadecimal.text(of: field.bytes) }
        }
        return found
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        // Numbers have several spellings.
        func parsed(_ text: String) -> NSObject? {
            try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) as? NSObject
        }
        return one == other || parsed(one) == parsed(other)
    }

    /// What was seen in the files of a store.
    private struct Seen {
        var roles: Set<BlockRole> = []
        var encodings: Set<String> = []
        var blocks = 0
    }

    /// Looks at every frame of a checkpoint, and compares its blocks of entries with what the second decoder reads.
    private static func check(
        _ checkpoint: CheckpointReading, _ data: [UInt8], _ known: [UInt64: Block], _ seen: inout Seen, _ seed: UInt64
    ) throws {
        var chain: UInt32? = 0
        var end: UInt64 = 512
        try checkpoint.frames { start, length, header in
            let place = "seed \(seed), \(checkpoint.address(start))"
            try #require(start == end && header != nil, "\(place)")
            end = start + length
            let content = checkpoint.content(at: start)
            let bytes = FrameBytes(
                Array(data[Int(start)..<Int(end)]), seed: checkpoint.seed, after: .init(chain: chain), as: content)
            chain = header?.checksum
            let sizes = try #require(FrameBytesTests.sizes(bytes), "\(place)")
            try #require(sizes == (Int(length), bytes.payload?.count ?? -1), "\(place)")
            let wrong = bytes.fields.filter { $0.isRight == false || $0.name.contains("without meaning") }
            try #require(wrong.isEmpty, "\(place): \(wrong.map(\.name))")
            if header?.knownKind == .block { seen.roles.insert(try #require(content.role, "\(place)")) }
            guard content.role == .entries else { return true }
            try compare(bytes.fields, try #require(known[start], "\(place)"), &seen, place)
            return true
        }
        try #require(end == data.count, "seed \(seed)")
    }

    private static func compare(_ fields: [FrameField], _ block: Block, _ seen: inout Seen, _ place: String) throws {
        seen.blocks += 1
        guard let columns = block.columns else {
            return try #require(entries(fields) == block.entries, "\(place)")
        }
        let names = fields.filter { $0.name.hasSuffix(": encoding") }
        seen.encodings.formUnion(names.map(\.value))
        for (name, values) in zip(names, columns) {
            let name = String(name.name.dropLast(": encoding".count))
            let texts = texts(fields, name, rows: values.count)
            let differs = zip(texts, values).first { !isSame($0, $1) }
            try #require(
                texts.count == values.count && differs == nil, "\(place), \(name): \(String(describing: differs))")
        }
        let prefix = Array(try #require(fields.first { $0.name == "prefix of the keys" }).bytes)
        let ids = fields.filter { $0.name.hasPrefix("id of row") || $0.name.hasPrefix("ids: row") }
        try #require(ids.map { Hexadecimal.text(of: prefix + $0.bytes) } == block.entries.map { $0[0] }, "\(place)")
    }

    @Test func `each byte of many random blocks is in one field, which says what the second decoder reads`()
        async throws
    {
        let seed = Seeds.one(7)
        let log = try TestLog(empty: ())
        try await Self.store(log.path, tables: Self.tables, seed: seed)
        let known = try Self.blocks(log.path)
        let inspection = LogInspection(POSIXStorage(directory: log.path))
        let identity = try inspection.catalog().identity
        var seen = Seen()
        // Large states have a run in each of several files.
        for file in Set(known.map(\.file)).sorted() {
            let through = SequenceNumber(rawValue: file)
            let own = known.filter { $0.file == file }.map { ($0.address, $0) }
            try Self.check(
                CheckpointReading(inspection, identity, through: through),
                [UInt8](Data(contentsOf: log.url(FileName.checkpoint(through: through)))),
                Dictionary(uniqueKeysWithValues: own), &seen, seed)
        }
        #expect(seen.blocks == known.count && seen.blocks >= Self.tables, "seed \(seed): \(seen.blocks)")
        #expect(
            seen.roles == [.entries, .index, .filter, .symbols] && seen.encodings.count == 9,
            "seed \(seed): \(seen.roles), \(seen.encodings)")
    }

    @Test func `any bytes are in one field each, whatever block they are said to be`() throws {
        var chance = Chance(seed: 3)
        let roles: [BlockRole?] = [.entries, .entries, .index, .filter, .symbols, .list, .piece, nil]
        for round in 0..<3000 {
            var bytes = chance.bytes(chance.below(round % 5 == 0 ? 2000 : 120))
            // The form of columns, with few rows, so that much of it has a meaning.
            if round % 2 == 0, bytes.count > 16 {
                (bytes[0], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6]) = (0, 5, 0, 3, 0, 1)
                for place in [9, 11, 13, 15] { bytes[place] = 0 }
            }
            var walk = FieldWalk(.payload, bytes[...])
            walk.addBlock(BlockContent(role: roles[round % roles.count], symbols: [[65], [66, 67]]))
            walk.addRest("bytes without meaning")
            var end = 0
            for field in walk.fields {
                try #require(field.offset == end && !field.bytes.isEmpty, "round \(round)")
                end += field.bytes.count
            }
            #expect(end == bytes.count, "round \(round)")
            var note = FieldWalk(.payload, bytes[...])
            note.addStateNote()
            note.addRest("rest")
            #expect(note.fields.reduce(0) { $0 + $1.bytes.count } == bytes.count)
        }
    }

    @Test func `a checkpoint is listed and named byte by byte, and damage is in its place`() async throws {
        let log = try TestLog(empty: ())
        try await Self.store(log.path, tables: 12, seed: 1)
        let through = try #require(try Checkpoint.list(POSIXStorage(directory: log.path)).first)
        let name = "c\(through.rawValue)"
        let frames = try await Call.tool("inspect", "frames", name, "--json", on: log).array()
        let details = frames.compactMap { $0["detail"] as? String }
        #expect(details.contains("entries") && details.contains("index") && details.contains("filter"))
        let blocks = frames.filter { $0["detail"] as? String == "entries" }.compactMap { $0["address"] as? String }
        let block = try #require(blocks.first)
        var shown = ""
        for block in blocks { shown += await Call.tool("inspect", "frame", block, "--bytes", on: log).output }
        #expect(shown.contains("column 1: encoding") && shown.contains("shared bytes of key 1"), "\(shown)")
        let header = await Call.tool("inspect", "frame", name + ":100", on: log)
        #expect(header.exit == .done && header.output.contains("last record it covers"), "\(header.output)")
        #expect(await Call.tool("inspect", "frame", "s1:0", on: log).output.contains("first record"))
        #expect(await Call.tool("inspect", "frames", "c999", on: log).exit == .failed)
        #expect(await Call.tool("inspect", "frame", "c999:0", on: log).exit == .no)
        let offset = try #require(Int(block.split(separator: ":")[1]))
        try log.change(FileName.checkpoint(through: through)) { $0[offset + 60] ^= 1 }
        let listed = await Call.tool("inspect", "frames", name, on: log)
        #expect(listed.exit == .done && listed.output.contains("no frame verifies at \(block)"), "\(listed.output)")
        let damaged = await Call.tool("inspect", "frame", block, on: log)
        #expect(damaged.exit == .no && damaged.output.contains("wrong"), "\(damaged.output)")
    }
}

extension Chance {
    /// Letters that a table of symbols makes no shorter.
    fileprivate mutating func letters(_ count: Int) -> String {
        let all = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<count).map { _ in pick(all) })
    }

    fileprivate var uuid: uuid_t {
        mutating get {
            let all = bytes(16)
            return all.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
        }
    }
}
