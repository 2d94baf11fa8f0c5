// Damaged logs: each damage is reported at its place, everything intact around it is shown too, and the exit code
// reports it.

import Foundation
import SegmentLog
import Testing

@testable import SynclineTool

@Suite struct DamageTests {
    @Test func `damage in the middle is listed at its place among the frames`() async throws {
        let log = try TestLog()
        try log.flip("fifth", in: TestLog.secondSegment)
        let call = await Call.tool("inspect", "frames", "s2", on: log)
        #expect(call.exit == .done)
        #expect(
            call.output == """
                ADDRESS  KIND  RECORDS  BYTES  RAW  CODEC   LAG  TIME OR DETAIL
                s2:512   data  @4          64   15  stored    0  2023-11-14T22:13:26.000Z
                ! s2:576 damaged 64 bytes: the payload's checksum is wrong (record @5)
                s2:640   data  @6          64   14  stored    0  2023-11-14T22:13:28.000Z

                """)
        let entries = try await Call.tool("inspect", "frames", "s2", "--json", on: log).array()
        #expect(entries.map { $0["address"] as? String } == ["s2:512", "s2:576", "s2:640"])
        let damage = entries[1]["damage"] as? [String: Any]
        #expect(damage?["records"] as? String == "@5" && damage?["repairable"] as? Bool == false)
    }

    @Test func `records after damage are still printed, and the exit code says that some are not`() async throws {
        let log = try TestLog()
        try log.flip("fifth", in: TestLog.secondSegment)
        let call = await Call.tool("raw", "cat", on: log)
        #expect(call.exit == .partial)
        #expect(call.output == "hello\nworld\nthird\nfourth\nsixth\n")
        #expect(call.errors == "! s2:576 damaged 64 bytes: the payload's checksum is wrong (record @5)\n")
        #expect(try await Call.tool("raw", "cat", "--json", on: log).array().count == 6)
        #expect(await Call.tool("raw", "cat", "--from", "@6", on: log).exit == .done)
    }

    @Test func `verify answers no, with what can be done`() async throws {
        let log = try TestLog()
        try log.flip("fifth", in: TestLog.secondSegment)
        try log.flip("state", in: TestLog.checkpoint)
        let call = await Call.tool("verify", on: log)
        #expect(call.exit == .no)
        #expect(
            call.output == """
                ! s2:576 damaged 64 bytes: the payload's checksum is wrong (record @5)
                ! 0000000000000003.checkpoint damaged: the payload's checksum is wrong (byte 512)
                damaged  in 2 places; whole: 5 records, 7 frames, 2 segments, 0 checkpoints

                """)
        #expect(call.errors.contains("--salvage DIR"))
        let json = await Call.tool("verify", "--json", on: log)
        #expect(json.exit == .no && json.errors == "")
        #expect(
            json.output.hasPrefix(#"{"healthy":false,"events":5,"damage":[{"address":"s2:576","bytes":64,"reason":"#))
        #expect(
            await Call.tool("inspect", "checkpoints", on: log).output.hasPrefix("! 0000000000000003.checkpoint damaged")
        )
    }

    @Test func `repair sets derived data aside and leaves what was acknowledged`() async throws {
        let log = try TestLog()
        try log.flip("fifth", in: TestLog.secondSegment)
        try log.flip("state", in: TestLog.checkpoint)
        let damaged = try log.bytes
        let dry = await Call.tool("repair", "--dry-run", on: log)
        #expect(dry.exit == .no && dry.output.hasPrefix("would move 0000000000000003.checkpoint into quarantine: "))
        #expect(try log.bytes == damaged)
        let call = await Call.tool("repair", "--json", on: log)
        #expect(call.exit == .no)
        #expect((try call.object()["repaired"] as? [[String: Any]])?.map { $0["action"] as? String } == ["set-aside"])
        #expect((try call.object()["left"] as? [[String: Any]])?.map { $0["address"] as? String } == ["s2:576"])
        let after = try log.bytes
        #expect(after["quarantine/" + TestLog.checkpoint] == damaged[TestLog.checkpoint])
        #expect(after[TestLog.secondSegment] == damaged[TestLog.secondSegment])
    }

    @Test func `repair cuts a torn write and keeps a copy`() async throws {
        let log = try TestLog(closing: false)
        try log.cut(20, of: TestLog.secondSegment)
        let verify = await Call.tool("verify", on: log)
        #expect(verify.exit == .no)
        #expect(
            verify.output.hasPrefix(
                "! s2:640 damaged 44 bytes: torn write, never acknowledged: the file ends inside the frame\n"))
        #expect(await Call.tool("raw", "cat", on: log).exit == .done, "nothing acknowledged is missing")
        let call = await Call.tool("repair", on: log)
        #expect(call.exit == .done)
        #expect(call.output.hasPrefix("cut 44 bytes at s2:640, keeping a copy in quarantine: "))
        #expect(try log.folder.contents.contains { $0.hasPrefix("log/quarantine/s2-640-") })
        #expect(await Call.tool("verify", on: log).exit == .done)
        #expect(await Call.tool("repair", on: log).output == "healthy  nothing to repair\n")
    }

    @Test func `HEAD is rebuilt, damaged or missing`() async throws {
        let log = try TestLog()
        try log.change("HEAD") { data in for index in data.indices { data[index] = 0xee } }
        #expect(
            await Call.tool("verify", on: log).output.hasPrefix(
                "! HEAD damaged 8192 bytes: neither slot can be read, so")
        )
        #expect(await Call.tool("repair", on: log).exit == .no)
        #expect(await Call.tool("verify", on: log).exit == .done)
        try FileManager.default.removeItem(at: log.url("HEAD"))
        let call = await Call.tool("repair", on: log)
        #expect(call.exit == .no && call.output.hasPrefix("rebuilt HEAD: it is missing"))
        #expect(call.output.contains("records may be missing at the end"))
        #expect(FileManager.default.fileExists(atPath: log.url("HEAD").path))
    }

    @Test func `a damaged index gives way to a hole, and no record is lost`() async throws {
        let log = try TestLog()
        let frames = try await Call.tool("inspect", "frames", "s1", "--json", on: log).array()
        let index = try #require(frames.first { $0["kind"] as? String == "index" }?["address"] as? String)
        let offset = try #require(Int(index.dropFirst("s1:".count)))
        try log.change(TestLog.firstSegment) { $0[offset + 44] ^= 1 }
        let verify = await Call.tool("verify", on: log)
        #expect(verify.exit == .no && verify.output.hasPrefix("! \(index) damaged"))
        let dry = await Call.tool("repair", "--dry-run", "--json", on: log)
        #expect(dry.output.contains(#""action":"fill-hole","address":"\#(index)""#))
        let call = await Call.tool("repair", on: log)
        #expect(call.exit == .done && !call.output.isEmpty)
        #expect(await Call.tool("verify", on: log).exit == .done)
        #expect(await Call.tool("raw", "cat", on: log).output == "hello\nworld\nthird\nfourth\nfifth\nsixth\n")
        #expect(await Call.tool("repair", on: log).output == "healthy  nothing to repair\n")
    }

    @Test func `leftovers are removed`() async throws {
        let log = try TestLog()
        try Data("half".utf8).write(to: log.url("0000000000000006.checkpoint.tmp"))
        let call = await Call.tool("repair", on: log)
        #expect(call.output == "removed the leftover 0000000000000006.checkpoint.tmp: it was never finished\n")
        #expect(try !log.folder.contents.contains { $0.hasSuffix(".tmp") })
    }

    @Test func `salvage copies undamaged records and names lost ones`() async throws {
        let log = try TestLog()
        try log.flip("fifth", in: TestLog.secondSegment)
        let fresh = log.folder.path + "/fresh"
        let before = try log.bytes
        let call = await Call.tool("repair", "--salvage", fresh, "--json", on: log)
        #expect(call.exit == .no)
        let salvaged = try call.object()["salvaged"] as? [String: Any]
        #expect(salvaged?["events"] as? Int == 5 && salvaged?["lost"] as? [String] == ["@5"])
        #expect(try log.bytes == before)
        let cat = await Call.tool("raw", "cat", "-s", fresh)
        #expect(cat.exit == .done && cat.output == "hello\nworld\nthird\nfourth\nsixth\n")
        #expect(cat.errors == "! @5 are known to be lost\n")
        #expect(await Call.tool("repair", "--salvage", fresh, on: log).exit == .failed, "it is not empty any more")
    }

    /// Removes HEAD, and overwrites the header of each segment.
    private func removeHeads(of log: TestLog) throws {
        try FileManager.default.removeItem(at: log.url("HEAD"))
        for name in [TestLog.firstSegment, TestLog.secondSegment] {
            try log.change(name) { $0.replaceSubrange(0..<512, with: Data(count: 512)) }
        }
    }

    @Test(arguments: [true, false])
    func `salvage recognises the records of a log without HEAD and segment headers`(hasCheckpoint: Bool) async throws {
        let log = try TestLog()
        if !hasCheckpoint { try FileManager.default.removeItem(at: log.url(TestLog.checkpoint)) }
        try removeHeads(of: log)
        let verify = await Call.tool("verify", on: log)
        #expect(verify.exit == .no)
        #expect(verify.output.contains("! HEAD damaged: it is lost, and so are all segment headers"))
        #expect(await Call.tool("raw", "append", on: log, input: "more").exit == .failed, "no writer opens it")
        let fresh = log.folder.path + "/fresh"
        let call = await Call.tool("repair", "--salvage", fresh, on: log)
        #expect(call.exit == .no && call.output.contains("copied  6 records into"), "\(call.output)\(call.errors)")
        let cat = await Call.tool("raw", "cat", "-s", fresh)
        #expect(cat.exit == .done && cat.output == "hello\nworld\nthird\nfourth\nfifth\nsixth\n")
    }

    @Test func `the error for a log of which nothing can be recognised says what to do`() async throws {
        let log = try TestLog()
        try FileManager.default.removeItem(at: log.url(TestLog.checkpoint))
        try FileManager.default.removeItem(at: log.url("HEAD"))
        for name in [TestLog.firstSegment, TestLog.secondSegment] {
            try log.change(name) { $0 = Data(repeating: 0xee, count: $0.count) }
        }
        for words in [["verify"], ["repair"], ["repair", "--salvage", log.folder.path + "/fresh"], ["raw", "cat"]] {
            let call = await Call.tool(words: words, on: log)
            #expect(call.exit == .failed && call.errors.contains("no record can be recognised"), "\(words)")
            #expect(call.errors.contains("use a backup"), "\(words): \(call.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: log.folder.path + "/fresh"))
    }

    @Test func `salvage names what is lost at the end, too`() async throws {
        let log = try TestLog()
        try log.flip("sixth", in: TestLog.secondSegment)
        let call = await Call.tool("repair", "--salvage", log.folder.path + "/fresh", "--json", on: log)
        #expect((try call.object()["salvaged"] as? [String: Any])?["lost"] as? [String] == ["@6"])
    }

    @Test func `a missing segment is reported at its place`() async throws {
        let log = try TestLog()
        let writer = try log.open()
        try writer.roll()
        try writer.append(TestLog.batch("seventh"))
        try writer.close()
        try FileManager.default.removeItem(at: log.url(TestLog.secondSegment))
        let call = await Call.tool("inspect", "frames", on: log)
        let lines = call.output.split(separator: "\n")
        let gap = lines.firstIndex { $0.hasPrefix("! s2:0 damaged") && $0.contains("segment 2 is missing") }
        #expect(gap != nil && gap == lines.firstIndex { $0.hasPrefix("s3:") }.map { $0 - 1 })
        let segments = try await Call.tool("inspect", "segments", "--json", on: log).array()
        #expect(segments.first?["address"] as? String == "s1" && segments.last?["address"] as? String == "s3")
        #expect(segments.dropFirst().dropLast().allSatisfy { $0["damage"] != nil } && segments.count > 2)
        #expect(await Call.tool("raw", "cat", on: log).exit == .partial)
    }

    @Test func `a cut segment header is damage, and everything else is reported`() async throws {
        let log = try TestLog()
        try log.change(TestLog.secondSegment) { $0 = $0.prefix(100) }
        let call = await Call.tool("inspect", "frames", on: log)
        #expect(call.output.contains("s1:656   data     @3"))
        #expect(call.output.contains("! s2:0 damaged"))
        #expect(await Call.tool("verify", on: log).exit == .no)
        #expect(await Call.tool("repair", on: log).exit == .no)
    }

    @Test func `space kept ready after damage is not called damaged`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/log"
        let input = (1...20).map { "record \($0)\n" }.joined()
        _ = await Call.tool("raw", "append", "-s", path, input: input)
        let segment = URL(fileURLWithPath: path + "/" + TestLog.firstSegment)
        var data = try Data(contentsOf: segment)
        let place = try #require(data.range(of: Data("record 9".utf8)))
        data[place.lowerBound] ^= 1
        data.append(Data(count: 8192))
        try data.write(to: segment)
        for words in [["verify", "--json"], ["repair", "--json", "--dry-run"]] {
            let call = try await Call.tool(words: words + ["-s", path]).object()
            let damage = call["damage"] as? [[String: Any]] ?? call["left"] as? [[String: Any]]
            #expect(damage?.map { $0["records"] as? String } == ["@9"], "\(words)")
        }
        let marked = await Call.tool("inspect", "frames", "-s", path).output.split(separator: "\n").filter {
            $0.hasPrefix("!")
        }
        #expect(marked.count == 1)
        #expect(await Call.tool("raw", "cat", "--from", "@-2", "-s", path).output == "record 19\nrecord 20\n")
    }

    @Test func `every byte of a segment may be wrong and every command still ends`() async throws {
        let log = try TestLog()
        let size = try Data(contentsOf: log.url(TestLog.secondSegment)).count
        for place in stride(from: 0, to: size, by: 17) {
            try log.change(TestLog.secondSegment) { $0[place] ^= 0x55 }
            for words in [["inspect", "frames"], ["inspect", "segments"], ["raw", "cat"]] {
                let call = await Call.tool(words: words, on: log)
                #expect([.done, .partial, .failed].contains(call.exit))
            }
            try log.change(TestLog.secondSegment) { $0[place] ^= 0x55 }
        }
        #expect(await Call.tool("verify", on: log).exit == .done)
    }
}
