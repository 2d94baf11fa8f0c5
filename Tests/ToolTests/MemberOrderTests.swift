// The order of the members of an object means nothing, that of an array does: in differences, in what set a field, in
// conditions and in expected results alike.

import Foundation
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct MemberOrderTests {
    /// A store that pulled a row, and pulls it again after the members of an object in it changed their order.
    private let log: TestLog
    private let server = SimulatedServer(.datasync3)
    private let network: SimulatedNetwork
    private static let first = row(#"{"lat":1,"on":{"x":1,"y":[1,2]}}"#)
    private static let second = row(#"{"on":{"y":[1,2],"x":1},"lat":1}"#)
    private static let third = row(#"{"on":{"y":[2,1],"x":1},"lat":1}"#)

    private static func row(_ place: String) -> String {
        #"{"id":"r1","place":\#(place),"copy":{"on":{"y":[1,2],"x":1},"lat":1}}"#
    }

    init() async throws {
        log = try TestLog(empty: ())
        network = SimulatedNetwork(server)
        server.setTable("t", rows: [try Value(json: Self.first.utf8)])
        _ = await call("init", "--backend", "http://127.0.0.1:9", "--protocol", "datasync3")
        #expect(await call("pull", "t", "--query-id", "q").exit == .done)
    }

    private func call(_ words: String...) async -> Call {
        await Call.tool(words: words, on: log, transport: network)
    }

    /// Changes the row on the server, and pulls it.
    private func pull(_ row: String) async throws {
        server.upsert([try Value(json: row.utf8)], in: "t")
        #expect(await call("pull", "t", "--query-id", "q").exit == .done)
    }

    @Test func `a difference shows a new order of an array, and none of an object`() async throws {
        server.upsert([try Value(json: Self.second.utf8)], in: "t")
        let same = await call("diff", "server", "--json")
        #expect(same.exit == .done && same.output == "[]\n", "\(same.output)")
        server.upsert([try Value(json: Self.third.utf8)], in: "t")
        let other = try await call("diff", "server", "--json").array()
        let fields = other.first?["fields"] as? [[String: Any]]
        #expect(fields?.map { $0["name"] as? String } == ["place"])
    }

    @Test func `a field keeps the event that set it`() async throws {
        let before = try await call("blame", "t/r1", "--json").array()
        try await pull(Self.second)
        let after = try await call("blame", "t/r1", "--json").array()
        func event(_ fields: [[String: Any]], _ name: String) -> String? {
            fields.first { $0["field"] as? String == name }?["event"] as? String
        }
        let first = try #require(event(before, "place"))
        #expect(event(after, "place") == first)
        #expect(try #require(event(after, "version")) != #require(event(before, "version")))
        try await pull(Self.third)
        let third = try #require(try await event(call("blame", "t/r1", "--json").array(), "place"))
        #expect(third != first)
    }

    @Test func `a condition on two objects does not see their order`() async throws {
        let found = try await call("replay", "--bisect", "t/r1: place eq copy", "--json").object()
        #expect(found["event"] is [String: Any], "\(found)")
        #expect(await call("replay", "--bisect", "t/r1: place/on/y eq copy/lat").exit == .no)
    }

    @Test func `an expected result does not depend on it`() async throws {
        let file = log.folder.path + "/expected.jsonl"
        #expect(await call("replay", "--write-expected", file).exit == .done)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let (old, new) = (#""place":{"lat":1,"on":{"x":1,"y":[1,2]}}"#, #""place":{"on":{"y":[1,2],"x":1},"lat":1}"#)
        #expect(text.contains(old), "\(text)")
        try text.replacing(old, with: new).write(toFile: file, atomically: true, encoding: .utf8)
        #expect(await call("replay", "--expect", file).exit == .done)
        let wrong = text.replacing(old, with: new.replacing("[1,2]", with: "[2,1]"))
        try wrong.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(await call("replay", "--expect", file).exit == .no)
    }
}
