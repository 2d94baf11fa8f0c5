// The small files of a store, byte by byte: every byte is in one field, and a field is wrong exactly if the engine does not
// take the file.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import SynclineTool

@Suite struct FileFieldsTests {
    private static func fields(_ name: String, _ bytes: [UInt8], _ identity: LogIdentity? = nil) -> [FrameField] {
        var walk = FieldWalk(.file, bytes[...])
        walk.addFile(name, identity)
        return walk.fields
    }

    /// Whether the fields lie side by side and have all bytes.
    private static func covers(_ fields: [FrameField], _ bytes: [UInt8]) -> Bool {
        fields.allSatisfy { !$0.bytes.isEmpty } && fields.flatMap { $0.bytes } == bytes
            && zip(fields, fields.dropFirst()).allSatisfy { $0.offset + $0.bytes.count == $1.offset }
    }

    private static func isRight(_ fields: [FrameField]) -> Bool { !fields.contains { $0.isRight == false } }

    private static func head(_ chance: inout Chance, slot: UInt64) -> [UInt8] {
        func number() -> UInt64 { UInt64(chance.below(1 << 40)) }
        var head = Head(
            identity: LogIdentity(high: number(), low: number()), floor: SequenceNumber(rawValue: number()),
            newestOrdinal: number(), durableThrough: SequenceNumber(rawValue: number()),
            epoch: UInt32(chance.below(1 << 30)), isClean: chance.once(in: 2))
        head.generation = number() / 2 * 2 + slot
        head.checkpoint = SequenceNumber(rawValue: chance.once(in: 2) ? 0 : number())
        var bytes = [UInt8](repeating: 0, count: Format.headSlotLength)
        bytes.withUnsafeMutableBytes { head.encode(into: $0) }
        return bytes
    }

    @Test func `each byte of a thousand slots of HEAD is in one field, and wrong exactly if the engine refuses it`() {
        var chance = Chance(seed: 11)
        for round in 0..<1000 {
            let first = chance.once(in: 4) ? [UInt8](repeating: 0, count: 4096) : Self.head(&chance, slot: 0)
            var second = Self.head(&chance, slot: 1)
            // A flipped bit; half of them with a mended checksum.
            if round % 2 == 0 {
                let place = chance.once(in: 2) ? chance.below(84) : chance.below(4096)
                second[place] ^= 1 << UInt8(chance.below(8))
                // The engine does not ask whose slot a generation is.
                if place == 8 { second[8] |= 1 }
                if round % 4 == 0 {
                    let sum = second.checksum(0, 4092)
                    for byte in 0..<4 { second[4092 + byte] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * byte)) }
                }
            }
            let bytes = first + second
            let fields = Self.fields(FileName.head, bytes)
            #expect(Self.covers(fields, bytes), "round \(round)")
            let isTaken = second.withBytes { Head($0) } != nil
            #expect(Self.isRight(fields.filter { $0.offset >= 4096 }) == isTaken, "round \(round)")
            #expect(Self.isRight(fields.filter { $0.offset < 4096 }), "round \(round)")
            let newest = bytes.withBytes { HeadReading($0).head }
            let named = fields.filter { $0.value.hasSuffix("in force") }
            #expect(
                named.map(\.value) == newest.map { ["\($0.generation), the one in force"] } ?? [], "round \(round)")
        }
    }

    @Test func `any bytes of any length are in one field each, too`() {
        var chance = Chance(seed: 12)
        let names = ["HEAD", "LOCK", "ERASE", "leases/0f.lease", "tributaries/01-02.changes"]
        for round in 0..<2000 {
            var bytes = chance.bytes(chance.below(round % 7 == 0 ? 9000 : 90))
            if round % 3 == 0 { bytes = bytes.map { $0 & 0x0f } }
            let fields = Self.fields(names[round % names.count], bytes)
            #expect(Self.covers(fields, bytes), "round \(round)")
        }
    }

    @Test func `the changes of a follower are named, and a cut or flipped file has a wrong field`() throws {
        let change = LocalChange(
            kind: .insert, table: "notes", id: "n1", columns: Row([.init("text", .string("milk"))]))
        let event = Event(time: 7, .local(LocalTransaction([change], isGrouped: false)))
        let identity = LogIdentity(high: 1, low: 2)
        var writer = ByteWriter()
        writer.append(Array("SYNCTRB1".utf8))
        for number in [1, 2, 41, 3] as [UInt64] { writer.append(fixed: number) }
        writer.append(varint: 2)
        for _ in 0..<2 { writer.append(counted: event.bytes) }
        writer.append(fixed: UInt64(writer.bytes.checksum(0, writer.bytes.count)))
        let (file, name) = (writer.bytes, "tributaries/01-02.changes")
        let fields = Self.fields(name, file, identity)
        #expect(Self.covers(fields, file) && Self.isRight(fields))
        #expect(fields.filter { $0.value.contains("insert notes/n1") }.map(\.name) == ["event 1", "event 2"])
        #expect(fields.contains { $0.value == "@41" })
        #expect(!Self.isRight(Self.fields(name, file, LogIdentity(high: 1, low: 3))))
        for place in file.indices {
            var flipped = file
            flipped[place] ^= 4
            #expect(!Self.isRight(Self.fields(name, flipped)), "flipped at \(place)")
            let cut = Array(file.prefix(place))
            #expect(Self.covers(Self.fields(name, cut), cut), "cut at \(place)")
            if place > 0 { #expect(!Self.isRight(Self.fields(name, cut)), "cut at \(place)") }
        }
    }

    @Test func `a lease and the other files are named`() throws {
        let log = try TestLog()
        let lease = try LogReader.open(POSIXStorage(directory: log.path)).lease(from: SequenceNumber(rawValue: 4))
        defer { lease.release() }
        let names = try FileManager.default.contentsOfDirectory(atPath: log.path + "/leases")
        let bytes = [UInt8](try Data(contentsOf: log.url("leases/\(names[0])")))
        let fields = Self.fields("leases/\(names[0])", bytes)
        #expect(Self.covers(fields, bytes) && Self.isRight(fields) && fields[1].value == "@4", "\(fields)")
        var flipped = bytes
        flipped[9] ^= 1
        #expect(!Self.isRight(Self.fields("leases/\(names[0])", flipped)))
        let erase = Self.fields("ERASE", Array("0000\nleases/\n".utf8))
        #expect(erase.map(\.value) == ["\"0000\"", "\"leases/\""] && Self.isRight(erase))
        #expect(Self.isRight(Self.fields("LOCK", Array("a note\nmore".utf8))))
    }

    @Test func `the command names the bytes of HEAD, and a name outside the store is refused`() async throws {
        let log = try TestLog.story()
        let fields = try await Call.tool("inspect", "frame", "HEAD", "--json", "--bytes", on: log).array()
        #expect(fields.reduce(0) { $0 + ($1["size"] as? Int ?? 0) } == 8192)
        #expect(!fields.contains { $0["right"] as? Bool == false })
        #expect(fields.first { ($0["field"] as? String)?.hasSuffix("closed cleanly") == true } != nil)
        try log.change("HEAD") { $0[40] ^= 1 }
        let damaged = await Call.tool("inspect", "frame", "HEAD", on: log)
        #expect(damaged.exit == .no && damaged.output.contains("wrong"), "\(damaged.output)")
        let none = await Call.tool("inspect", "frame", "leases/00.lease", on: log)
        #expect(none.exit == .no && none.errors.contains("does not exist"), "\(none.errors)")
        for name in [
            "leases/../HEAD", "/etc/passwd", "leases/", "leases/.x", "leases/a/b", "HEAD2", "tributaries/X",
            "quarantine/a",
        ] {
            #expect(await Call.tool("inspect", "frame", name, on: log).exit == .usage, "\(name)")
        }
    }
}
