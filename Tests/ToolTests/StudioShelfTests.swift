// Reports that are dropped on the page: parts of any size, other files and incomplete reports, and those that
// have to go.

import Foundation
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct StudioShelfTests {
    private let log: TestLog
    private let report: [UInt8]

    init() async throws {
        log = try TestLog.story()
        let file = log.folder.path + "/bug.jsonl"
        let call = await Call.tool("report", "-o", file, on: log)
        try #require(call.exit == .done, "\(call.errors)")
        report = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    }

    private func page(limit: UInt64 = StudioShelf.limit) throws -> StudioPageCall {
        try StudioPageCall(log, dropLimit: limit)
    }

    /// Sends the parts of a file; the answer to the last one, or to the first that is refused.
    private func drop(
        _ bytes: [UInt8], on page: StudioPageCall, part: Int = 5000, name: String = "bug.jsonl", ticket: String = "a"
    ) -> HTTPResponse {
        var offset = 0
        while true {
            let body = bytes[offset..<min(bytes.count, offset + part)]
            let answer = self.part(Array(body), offset, of: bytes.count, on: page, name: name, ticket: ticket)
            offset += part
            if answer.status != 200 || offset >= bytes.count { return answer }
        }
    }

    private func part(
        _ bytes: [UInt8], _ offset: Int, of size: Int, on page: StudioPageCall, name: String = "bug.jsonl",
        ticket: String = "a"
    ) -> HTTPResponse {
        let place = ["ticket": ticket, "offset": "\(offset)", "size": "\(size)", "name": name]
        var request = page.request("POST", "/api/drop", place)
        request.body = bytes.isEmpty ? nil : bytes
        return page.service.answer(request)
    }

    private func number(_ answer: HTTPResponse) throws -> Int64? {
        guard answer.status == 200 else {
            Issue.record("\(String(decoding: answer.body, as: UTF8.self))")
            return nil
        }
        guard case .integer(let number)? = try Value(json: answer.body)[member: "number"] else { return nil }
        return number
    }

    private func summary(_ number: Int64, on page: StudioPageCall) throws -> [String: Any]? {
        let answer = page.service.answer(page.request("GET", "/open/\(number)/api/summary"))
        guard answer.status == 200 else { return nil }
        return try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
    }

    @Test(arguments: [1, 13, 999, 1 << 19]) func `a report in parts of any size is a page of its own`(_ size: Int)
        throws
    {
        let page = try page()
        // The first line alone in single bytes.
        let bytes = size == 1 ? Array(report.prefix(300)) : report
        let answer = drop(bytes, on: page, part: size)
        guard size > 1 else {
            #expect(answer.status == 422)
            return
        }
        #expect(try number(answer) == 1)
        let found = try #require(try summary(1, on: page))
        #expect(found["name"] as? String == "bug.jsonl" && found["last"] as? Int == Story.events.count)
        #expect(found["writable"] as? Bool == false)
        let first = try page.summary()["others"] as? [[String: Any]]
        #expect(first?.map { $0["name"] as? String } == ["bug.jsonl"])
        // Its page is that of a store, and its debugger asks about it.
        let html = page.service.answer(page.request("GET", "/open/1/"))
        #expect(html.status == 200 && html.headers.value("Content-Type") == "text/html; charset=utf-8")
        let row = page.service.answer(page.request("GET", "/open/1/api/row", ["table": "todoitem", "id": "a"]))
        #expect(row.status == 200 && String(decoding: row.body, as: UTF8.self).contains(#""history":[{"#))
    }

    @Test func `another file, or a part of a report, is refused with its name and a reason`() throws {
        let page = try page()
        var changed = report
        let place = try #require(
            changed.indices.dropFirst(changed.count / 2).first { changed[$0] == UInt8(ascii: "1") })
        changed[place] = UInt8(ascii: "2")
        let text = String(decoding: report, as: UTF8.self)
        let newer = text.replacing(#""report":2"#, with: #""report":9"#)
        #expect(newer != text)
        let lines = text.split(separator: "\n")
        for (bytes, words) in [
            ([], "neither a store nor a report"), (Array("hello".utf8), "neither a store nor a report"),
            (Array("{\"a\":1}\n".utf8), "neither a store nor a report"),
            ([UInt8](repeating: 0x20, count: 2 << 20), "neither a store nor a report"),
            (Array(repeating: 0xff, count: 9000), "neither a store nor a report"),
            (Array(report.dropLast(2)), "is not a complete report"),
            (Array(report.prefix(report.count / 2)), "is not a complete report"),
            (Array((lines.dropLast().joined(separator: "\n") + "\n").utf8), "it was cut"),
            (Array((text + lines[1] + "\n").utf8), "comes after its end"),
            (changed, "is not a complete report"), (Array(newer.utf8), "newer version"),
        ] as [([UInt8], String)] {
            let answer = drop(bytes, on: page, name: "b\u{202e}ug")
            let said = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 422 && said.contains(words), "\(said)")
        }
        #expect(try page.summary()["others"] as? [[String: Any]] != nil)
        #expect((try page.summary()["others"] as? [Any])?.isEmpty == true)
        // And a whole one still opens.
        #expect(try number(drop(report, on: page)) == 1)
    }

    @Test func `a file that is too large is refused before it is sent`() throws {
        let page = try page(limit: UInt64(report.count))
        let answer = part([1], 0, of: report.count + 1, on: page)
        let said = String(decoding: answer.body, as: UTF8.self)
        #expect(answer.status == 422 && said.contains("too-large") && said.contains("syncline studio --store"))
        #expect(try number(drop(report, on: page)) == 1)
    }

    @Test func `a part that is missing, repeated or of another file ends the arrival`() throws {
        let page = try page()
        let (half, size) = (report.count / 2, report.count)
        let (first, second) = (Array(report[..<half]), Array(report[half...]))
        #expect(part(second, half, of: size, on: page, ticket: "none").status == 422)
        #expect(try number(part(first, 0, of: size, on: page)) == nil)
        for (bytes, offset) in [(first, 0), (second, half)] {
            let answer = part(bytes, offset, of: size, on: page)
            #expect(answer.status == 422 && String(decoding: answer.body, as: UTF8.self).contains("interrupted"))
        }
        // Two at the same time do not mix.
        #expect(try number(part(first, 0, of: size, on: page, ticket: "x")) == nil)
        #expect(try number(part(first, 0, of: size, on: page, ticket: "y")) == nil)
        #expect(try number(part(second, half, of: size, on: page, ticket: "y")) == 1)
        #expect(try number(part(second, half, of: size, on: page, ticket: "x")) == 2)
        for query in [
            [:], ["ticket": "t"], ["ticket": "t", "size": "x", "offset": "0"], ["size": "1", "offset": "0"],
        ] {
            #expect(page.service.answer(page.request("POST", "/api/drop", query)).status == 400, "\(query)")
        }
    }

    @Test func `the same file twice is two pages, and the one that was used last stays longest`() throws {
        let page = try page()
        for expected in 1...4 { #expect(try number(drop(report, on: page)) == Int64(expected)) }
        #expect(try summary(1, on: page) != nil)
        #expect(try number(drop(report, on: page)) == 5)
        #expect(try summary(2, on: page) == nil && summary(1, on: page) != nil && summary(5, on: page) != nil)
        let gone = page.service.answer(page.request("GET", "/open/2/"))
        #expect(gone.status == 404 && String(decoding: gone.body, as: UTF8.self).contains("no longer open"))
    }

    @Test func `files that never arrive make room for others`() throws {
        let page = try page()
        for number in 0..<6 {
            #expect(try self.number(part([UInt8(ascii: "{")], 0, of: 9, on: page, ticket: "\(number)")) == nil)
        }
        #expect(part([UInt8(ascii: "}")], 1, of: 9, on: page, ticket: "0").status == 422)
        #expect(try number(part([UInt8(ascii: "\"")], 1, of: 9, on: page, ticket: "5")) == nil)
    }

    @Test func `a path of another studio is a number and what follows it`() {
        #expect(StudioShelf.place("/open/12/api/row").map { "\($0)" } == "(number: 12, path: \"/api/row\")")
        for path in ["/open/1", "/open/1/"] { #expect(StudioShelf.place(path)?.path == "/") }
        for path in [
            "/open/", "/open", "/open/x/", "/open//", "/open/99999999999999999999/", "/api/summary", "/", "",
        ] {
            #expect(StudioShelf.place(path) == nil, "\(path)")
        }
    }

    @Test func `a folder that a killed process left goes, and none that is used or is something else`() throws {
        let first = try ScratchFolder()
        let parent = URL(fileURLWithPath: first.path).deletingLastPathComponent()
        func place(_ name: String) -> String { parent.appendingPathComponent(name).path }
        let files = FileManager.default
        let (left, target) = (place("syncline-report.LEFT\(first.path.suffix(2))"), log.folder.path)
        let (link, other) = (
            place("syncline-report.LINK\(first.path.suffix(2))"),
            place("syncline-report.others-\(first.path.suffix(6))")
        )
        try files.createDirectory(atPath: left + "/store/leases", withIntermediateDirectories: true)
        try files.createDirectory(atPath: other, withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: link, withDestinationPath: target)
        defer { for path in [link, other] { try? files.removeItem(atPath: path) } }
        ScratchFolder.removeAbandoned()
        #expect(!files.fileExists(atPath: left))
        #expect([first.path, other, log.path, link].allSatisfy { files.fileExists(atPath: $0) })
        let second = try ScratchFolder()
        #expect(second.path != first.path && files.fileExists(atPath: first.path))
    }

    @Test func `a report that is open writes nothing and opens no further ones`() throws {
        let page = try page()
        #expect(try number(drop(report, on: page)) == 1)
        #expect(page.service.answer(page.request("POST", "/open/1/api/resolve")).status == 403)
        #expect(page.service.answer(page.request("POST", "/open/1/api/drop")).status == 405)
        #expect(page.service.answer(page.request("GET", "/open/1/open/1/api/summary")).status == 404)
        var stranger = page.request("GET", "/open/1/api/summary")
        stranger.headers = [HTTPHeader("Host", "127.0.0.1:1")]
        #expect(page.service.answer(stranger).status == 403)
    }
}
