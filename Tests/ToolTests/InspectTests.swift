// The output of read commands about a fixed log: for people, for pipes, for programs.

import SegmentLog
import Testing

@testable import SynclineTool

@Suite struct InspectTests {
    @Test func `frames of segments that are removed during the list are left out`() throws {
        let log = try TestLog()
        let storage = POSIXStorage(directory: log.path)
        let inspection = LogInspection(storage)
        let segments = try inspection.catalog().segments
        #expect(segments.count == 2)
        var shown: Set<UInt64> = []
        try inspection.frames(FrameSelection()) { found in
            guard case .item(let frame) = found else { return }
            // Both files go, and a later one begins the log.
            if shown.isEmpty {
                let later = FileName.segment(ordinal: 9, first: SequenceNumber(rawValue: 99))
                let bytes = try WholeFile(segments[1].name, in: storage).read() ?? []
                try WholeFile(later, in: storage).replace(with: bytes)
                for segment in segments { try storage.remove(segment.name) }
            }
            shown.insert(frame.summary.position.segment)
        }
        #expect(shown == [1])
    }

    @Test func `the summary is a page`() async throws {
        let call = await Call.tool("inspect", on: try TestLog())
        #expect(call.exit == .done && call.errors == "")
        #expect(
            call.output == """
                store        <log>
                identity     000102030405060708090a0b0c0d0e0f
                created      2023-11-14T22:13:20.000Z
                segments     2  1 sealed, 8 frames
                records      6  @1..6
                bytes        1576  in files of 1576
                compression  0.11 : 1  from 173
                checkpoints  1  newest @3
                damage       none

                """)
    }

    @Test func `people get units and dates`() async throws {
        let call = await Call.tool("inspect", on: try TestLog(), isTerminal: true, variables: ["NO_COLOR": "1"])
        #expect(
            call.output == """
                store        <log>
                identity     000102030405060708090a0b0c0d0e0f
                created      2023-11-14 22:13:20.000 UTC
                segments     2  1 sealed, 8 frames
                records      6  @1..6
                bytes        1.5 KiB  in files of 1.5 KiB
                compression  0.11 : 1  from 173 B
                checkpoints  1  newest @3
                damage       none

                """)
    }

    @Test func `programs get one object`() async throws {
        let call = await Call.tool("inspect", "--json", on: try TestLog())
        #expect(
            call.output
                == #"{"store":"<log>","identity":"000102030405060708090a0b0c0d0e0f","created":"2023-11-14T22:13:20.000Z","epoch":1,"segments":2,"frames":8,"events":6,"records":"@1..6","bytes":1576,"fileBytes":1576,"rawBytes":173,"ratio":0.11,"checkpoints":["@3"],"holes":[],"quarantined":0,"damage":[],"waiting":[]}"#
                + "\n")
    }

    @Test func `segments are a table`() async throws {
        let log = try TestLog()
        #expect(
            await Call.tool("inspect", "segments", on: log).output == """
                SEGMENT  RECORDS  FRAMES  BYTES  RAW  RATIO  STATE   EPOCH  CREATED
                s1       @1..3         5    872  130   0.15  sealed      0  2023-11-14T22:13:20.000Z
                s2       @4..6         3    704   43   0.06  open        1  2023-11-14T22:13:25.000Z

                """)
        let segments = try await Call.tool("inspect", "segments", "--json", on: log).array()
        #expect(segments.map { $0["address"] as? String } == ["s1", "s2"])
        #expect(segments.map { $0["sealed"] as? Bool } == [true, false])
    }

    @Test func `frames are a table`() async throws {
        let call = await Call.tool("inspect", "frames", on: try TestLog())
        #expect(
            call.output == """
                ADDRESS  KIND     RECORDS  BYTES  RAW  CODEC   LAG  TIME OR DETAIL
                s1:512   session              72   40  lz4       0  epoch 1, 2023-11-14T22:13:21.000Z
                s1:584   data     @1..2       72   20  stored    0  2023-11-14T22:13:22.000Z
                s1:656   data     @3          64   14  stored    0  2023-11-14T22:13:23.000Z
                s1:720   index                64   16  stored    0  1 place
                s1:784   seal                 88   40  stored    0  through @3
                s2:512   data     @4          64   15  stored    0  2023-11-14T22:13:26.000Z
                s2:576   data     @5          64   14  stored    0  2023-11-14T22:13:27.000Z
                s2:640   data     @6          64   14  stored    0  2023-11-14T22:13:28.000Z

                """)
    }

    @Test(arguments: [
        (["@4"], "s2:512 s2:576 s2:640"), (["@-1"], "s2:640"), (["@1..3"], "s1:584 s1:656"),
        (["s1:700"], "s1:656 s1:720 s1:784 s2:512 s2:576 s2:640"),
        (["s2"], "s2:512 s2:576 s2:640"), (["-n", "2"], "s2:576 s2:640"), (["s1:584", "-n", "1"], "s1:584"),
        (["--segment", "1", "-n1"], "s1:784"), (["--segment", "2"], "s2:512 s2:576 s2:640"), (["@900"], ""),
    ])
    func `frames are chosen by address, segment and number`(words: [String], expected: String) async throws {
        let log = try TestLog()
        let all = ["inspect", "frames", "--json"] + words
        let frames = try await Call.tool(words: all, on: log).array()
        #expect(frames.compactMap { $0["address"] as? String }.joined(separator: " ") == expected)
    }

    @Test func `a segment that is not there is refused with those that are`() async throws {
        let call = await Call.tool("inspect", "frames", "--segment", "9", on: try TestLog())
        #expect(call.exit == .failed)
        #expect(call.errors == "syncline: error: there is no segment 9\n  hint: The log has segments 1 to 2.\n")
    }

    @Test func `checkpoints are a table`() async throws {
        let call = await Call.tool("inspect", "checkpoints", on: try TestLog())
        #expect(call.output == "THROUGH  BLOCKS  BYTES  NOTE  STATE\n@3            1    720     3  whole\n")
    }

    @Test func `a healthy log is reported as healthy`() async throws {
        let log = try TestLog()
        let call = await Call.tool("verify", "--deep", on: log)
        #expect(call.exit == .done && call.output == "healthy  6 records, 8 frames, 2 segments, 1 checkpoint\n")
        #expect(
            await Call.tool("verify", "--json", on: log).output
                == #"{"healthy":true,"events":6,"damage":[],"segments":2,"frames":8,"checkpoints":["@3"],"holes":[]}"#
                + "\n")
    }

    @Test func `a terminal gets colour, unless that is turned off`() async throws {
        let log = try TestLog()
        let escape = "\u{1b}["
        #expect(await Call.tool("inspect", "frames", on: log, isTerminal: true).output.contains(escape))
        #expect(await !Call.tool("inspect", "frames", on: log).output.contains(escape))
        #expect(
            await !Call.tool("inspect", "frames", on: log, isTerminal: true, variables: ["NO_COLOR": "1"]).output
                .contains(escape))
        #expect(
            await !Call.tool("inspect", "frames", "--color=never", on: log, isTerminal: true).output.contains(escape))
        #expect(await Call.tool("verify", "--color", "always", on: log).output.hasPrefix("\u{1b}[32mhealthy\u{1b}[0m"))
        #expect(await !Call.tool("verify", "--json", "--color=always", on: log).output.contains(escape))
    }

    @Test func `read commands change no byte and leave no file`() async throws {
        let log = try TestLog(closing: false)
        try log.cut(20, of: TestLog.secondSegment)
        try log.flip("third", in: TestLog.firstSegment)
        let before = try log.bytes
        let calls = [
            ["inspect"], ["inspect", "segments"], ["inspect", "frames"], ["inspect", "checkpoints"],
            ["verify", "--deep"],
            ["repair", "--dry-run"], ["raw", "cat"], ["raw", "cat", "--durable"],
        ]
        for words in calls { _ = await Call.tool(words: words, on: log) }
        #expect(try log.bytes == before)
    }

    @Test func `it works beside a writer`() async throws {
        let log = try TestLog()
        let writer = try log.open()
        try writer.append(TestLog.batch("seventh"))
        #expect(await Call.tool("verify", on: log).exit == .done)
        #expect(try await Call.tool("inspect", "--json", on: log).object()["records"] as? String == "@1..7")
        #expect(await Call.tool("raw", "cat", "--from", "@-1", on: log).output == "seventh\n")
        try writer.close()
    }
}
