// The page about the files of the log: sizes, the part of the frames with a byte, and the bytes of an event.

import Foundation
import SegmentLog
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct StudioLogTests {
    @Test func `the files have their sizes, and what is wrong with them`() throws {
        let log = try TestLog()
        let page = try StudioPageCall(log)
        let found = try page.object("files")
        let segments = try #require(found["segments"] as? [[String: Any]])
        #expect(segments.map { $0["name"] as? String } == ["s1", "s2"])
        #expect(segments.map { $0["sealed"] as? Bool } == [true, false])
        for segment in segments {
            let size = try Data(contentsOf: log.url(try #require(segment["file"] as? String))).count
            #expect(segment["size"] as? Int == size && segment["used"] as? Int == size)
        }
        let checkpoints = try #require(found["checkpoints"] as? [[String: Any]])
        #expect(checkpoints.count == 1 && checkpoints[0]["name"] as? String == "c3")
        try log.flip("third", in: TestLog.firstSegment)
        try page.summary()
        let damaged = try #require(try page.object("files")["segments"] as? [[String: Any]])
        let damage = try #require((damaged[0]["damage"] as? [[String: Any]])?.first)
        let offset = try #require(damage["offset"] as? Int)
        #expect(damage["address"] as? String == "s1:\(offset)" && (damaged[1]["damage"] as? [Any])?.isEmpty == true)
        let bytes = try page.object("bytes", ["address": "s1:\(offset)"])
        #expect(bytes["wrong"] as? Int == 1, "\(bytes)")
    }

    @Test func `a part of the frames is the one with a byte, or begins after others`() throws {
        var frames = StudioFrames(skip: nil, holding: 25, top: 2)
        for start in 0..<7 { frames.add(UInt64(10 * start), 10) { ["n": .number(start)] } }
        #expect(
            frames.skip == 2 && frames.count == 7 && frames.shown.map { $0[member: "n"] } == [.number(2), .number(3)])
        var past = StudioFrames(skip: nil, holding: 1000, top: 3)
        var later = StudioFrames(skip: 4, holding: 5, top: 2)
        for start in 0..<7 {
            past.add(UInt64(10 * start), 10) { ["n": .number(start)] }
            later.add(UInt64(10 * start), 10) { ["n": .number(start)] }
        }
        #expect(past.skip == 6 && past.shown.count == 1)
        #expect(later.skip == 4 && later.shown.map { $0[member: "n"] } == [.number(4), .number(5)])
    }

    @Test func `the frames of a segment and of a checkpoint lie side by side`() throws {
        let page = try StudioPageCall(TestLog())
        let files = try page.object("files")
        let all = (files["segments"] as? [[String: Any]] ?? []) + (files["checkpoints"] as? [[String: Any]] ?? [])
        for file in all {
            let name = try #require(file["name"] as? String)
            let frames = try #require(try page.object("frames", ["file": name])["frames"] as? [[String: Any]])
            var end = 512
            for frame in frames {
                #expect(frame["offset"] as? Int == end, "\(name)")
                end += frame["length"] as? Int ?? 0
            }
            #expect(end == file["size"] as? Int, "\(name)")
        }
        for name in ["s9", "c9", "@1", "x", ""] { #expect(page.get("frames", ["file": name]).status == 400, "\(name)") }
    }

    @Test func `the bytes of an event are those of its frame, from its part of the fields on`() throws {
        let page = try StudioPageCall(TestLog.story())
        let found = try page.object("bytes", ["address": "@5", "top": "3"])
        let fields = try #require(found["fields"] as? [[String: Any]])
        let skip = try #require(found["skip"] as? Int)
        #expect(skip > 0 && skip % 3 == 0 && fields.contains { $0["field"] as? String == "record @5" }, "\(found)")
        let address = try #require(found["address"] as? String)
        let whole = try page.object("bytes", ["address": address])
        let magic = (whole["fields"] as? [[String: Any]])?.first
        #expect(magic?["field"] as? String == "magic" && magic?["bytes"] as? String == "d746524d")
        #expect(try page.object("bytes", ["address": "@99"])["address"] is NSNull)
        #expect(page.get("bytes", ["address": "nonsense"]).status == 400)
    }
}

extension JSONValue {
    fileprivate subscript(member name: String) -> JSONValue? {
        if case .object(let members) = self { members.first { $0.key == name }?.value } else { nil }
    }
}
