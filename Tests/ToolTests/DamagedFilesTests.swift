// Files of a store that are missing, copied, or without a header: what can be read is shown, once, and the rest is named.

import Foundation
import SegmentLog
import Testing

@testable import SynclineTool

@Suite struct DamagedFilesTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/store" }

    /// Six rows in two segments, with a checkpoint between them.
    init() async throws {
        folder = try TemporaryFolder()
        try #require(await call("init").exit == .done)
        for id in 1...3 { try #require(await call("insert", "t", #"{"id":"a\#(id)"}"#).exit == .done) }
        try #require(await call("compact").exit == .done)
        for id in 4...6 { try #require(await call("insert", "t", #"{"id":"a\#(id)"}"#).exit == .done) }
    }

    private func call(_ words: String...) async -> Call { await Call.tool(words: words + ["-s", path]) }

    private var segments: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(FileName.segmentSuffix) }
                .sorted()
        }
    }

    private func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

    private func events(_ call: Call) throws -> [String] { try call.array().compactMap { $0["address"] as? String } }

    @Test func `events before a missing first segment are named`() async throws {
        try FileManager.default.removeItem(at: url(try segments[0]))
        for words in [["log"], ["log", "-n", "100"]] {
            let call = await Call.tool(words: words + ["-s", path])
            #expect(call.exit == .partial && call.errors.contains("records @1..9"), "\(words): \(call.errors)")
            #expect(call.output.contains("insert t/a6"))
        }
        let query = await call("query", "t")
        #expect(query.output.split(separator: "\n").count == 6)
        #expect(query.errors.contains("the segments before it are missing"), "\(query.errors)")
        let sql = await call("sql", "select event, cause from syncline_events limit 1", "--json")
        #expect(sql.output.contains("lost"), "\(sql.output)\(sql.errors)")
    }

    @Test(arguments: [0, 1], ["00000003-0000000000000030.seg", "00000001-0000000000000009.seg"])
    func `a copy of a segment does not belong to the log`(segment: Int, copy: String) async throws {
        let whole = try events(await call("log", "--json"))
        try FileManager.default.copyItem(at: url(try segments[segment]), to: url(copy))
        let log = await call("log", "--json")
        #expect(try events(log) == whole && log.exit == .done)
        #expect(await call("query", "t").output.split(separator: "\n").count == 6)
        let verify = await call("verify")
        #expect(verify.exit == .no && verify.output.contains("\(copy) damaged"), "\(verify.output)")
        #expect(verify.output.contains("it is a copy of segment \(segment + 1)"), "\(verify.output)")
        #expect(await call("repair", "--dry-run").output.contains("would move \(copy) into quarantine"))
        #expect(await call("repair").exit == .done)
        #expect(FileManager.default.fileExists(atPath: path + "/quarantine/" + copy))
        #expect(await call("verify").exit == .done)
        #expect(await call("insert", "t", #"{"id":"a7"}"#).exit == .done)
    }

    @Test func `a writer moves a copy of a segment out of the way`() async throws {
        // The name that the next segment gets.
        let copy = "00000003-0000000000000012.seg"
        try FileManager.default.copyItem(at: url(try segments[1]), to: url(copy))
        #expect(await call("insert", "t", #"{"id":"a7"}"#).exit == .done)
        #expect(await call("compact").exit == .done)
        #expect(FileManager.default.fileExists(atPath: path + "/quarantine/" + copy))
        #expect(try segments.count == 3)
        #expect(await call("verify", "--deep").exit == .done)
        #expect(await call("query", "t").output.split(separator: "\n").count == 7)
    }

    @Test(arguments: [0, 1])
    func `a segment is read without its header`(segment: Int) async throws {
        let whole = try events(await call("log", "--json"))
        let name = try segments[segment]
        var bytes = try Data(contentsOf: url(name))
        bytes[100] ^= 1
        try bytes.write(to: url(name))
        let log = await call("log", "--json")
        #expect(try events(log) == whole, "\(log.output)")
        #expect(await call("query", "t").output.split(separator: "\n").count == 6)
        let verify = await call("verify")
        #expect(verify.exit == .no && verify.output.contains("its header's checksum is wrong"))
        #expect(await call("insert", "t", #"{"id":"a7"}"#).exit == .failed, "a writer changes nothing")
        let salvage = await call("repair", "--salvage", folder.path + "/rescued")
        #expect(salvage.exit == .done && salvage.output.contains("copied  \(whole.count) records"), "\(salvage.output)")
    }

    @Test func `events and charts continue after a lost event`() async throws {
        let name = try segments[0]
        var bytes = try Data(contentsOf: url(name))
        let place = try #require(bytes.range(of: Data("a2".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: url(name))
        let log = await call("log", "--json")
        #expect(log.exit == .partial)
        let sql = await call("sql", "select distinct event from syncline_events where cause <> 'lost'", "--json")
        #expect(sql.exit == .done || sql.exit == .partial)
        #expect(try sql.array().count == events(log).count, "\(sql.output) \(sql.errors)")
        let lost = await call("sql", "select event from syncline_events where cause = 'lost'", "--json")
        #expect(try lost.array().map { $0["event"] as? Int } == [6], "\(lost.output)")
        let charts = try StudioCharts(POSIXStorage(directory: path), through: 15)
        let points = try #require(
            try JSONSerialization.jsonObject(with: Data(charts.json.text.utf8)) as? [String: Any])["points"]
        let numbers = try #require(points as? [[String: Any]]).compactMap { $0["n"] as? Int }
        #expect(numbers == Array(1...5) + Array(10...15))
    }
}
