// The shell for programs: a reply for each line, and nothing else.

import Foundation
import Syncline
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct ShellTests {
    private func replies(_ lines: String..., in folder: TemporaryFolder) async -> [String] {
        let call = await Call.tool(
            words: ["shell", "--json", "-s", folder.path + "/store"], input: lines.joined(separator: "\n") + "\n")
        return call.output.split(separator: "\n").map(String.init)
    }

    @Test func `each line gets its reply, in order`() async throws {
        let folder = try TemporaryFolder()
        let replies = await replies(
            #"{"n":1,"args":["init"]}"#, #"{"n":2,"args":["insert","t","{\"id\":\"a\",\"x\":1}"]}"#,
            #"{"n":"three","args":["get","t","a"]}"#, #"{"n":4,"args":["get","t","b"]}"#,
            #"{"n":5,"args":["insert","t","{\"id\":\"a\"}"]}"#, in: folder)
        try #require(replies.count == 5)
        #expect(replies[0].hasPrefix(#"{"n":1,"exit":0,"result":{"store":"#))
        #expect(replies[1] == #"{"n":2,"exit":0,"result":{"id":"a","x":1}}"#)
        #expect(replies[2] == #"{"n":"three","exit":0,"result":{"id":"a","x":1}}"#)
        #expect(replies[3] == #"{"n":4,"exit":1,"result":null}"#)
        #expect(replies[4].hasPrefix(#"{"n":5,"exit":3,"error":{"code":"row-exists","message":"#))
    }

    @Test func `input travels with the request`() async throws {
        let folder = try TemporaryFolder()
        let replies = await replies(
            #"{"n":1,"args":["init"]}"#,
            #"{"n":2,"args":["transaction","-"],"input":"{\"insert\":{\"table\":\"t\",\"item\":{\"id\":\"a\"}}}\n"}"#,
            #"{"n":3,"args":["query","t"]}"#, in: folder)
        #expect(replies.last == #"{"n":3,"exit":0,"result":[{"id":"a"}]}"#)
    }

    @Test func `a shell reads a store that another program writes to`() async throws {
        let folder = try TemporaryFolder()
        _ = await replies(#"{"n":1,"args":["init"]}"#, in: folder)
        let writer = try await SyncDatabase.open(at: folder.path + "/store")
        try await writer.rows(of: "t").insert(["id": "a", "x": 1])
        let replies = await replies(
            #"{"n":1,"args":["get","t","a"]}"#, #"{"n":2,"args":["insert","t","{\"id\":\"b\"}"]}"#,
            #"{"n":3,"args":["query","t"]}"#, #"{"n":4,"args":["pending"]}"#, in: folder)
        try await writer.close()
        try #require(replies.count == 4)
        #expect(replies[0] == #"{"n":1,"exit":0,"result":{"id":"a","x":1}}"#)
        #expect(replies[1].hasPrefix(#"{"n":2,"exit":3,"error":{"code":"store-locked""#))
        #expect(replies[2] == #"{"n":3,"exit":0,"result":[{"id":"a","x":1}]}"#)
        #expect(replies[3].hasPrefix(#"{"n":4,"exit":0"#))
    }

    @Test func `wrong lines are answered, and the shell continues`() async throws {
        let folder = try TemporaryFolder()
        let replies = await replies(
            "nonsense", "[1]", #"{"n":1,"args":[5]}"#, #"{"n":2,"args":["nonsense"]}"#, #"{"n":3,"args":["shell"]}"#,
            #"{"n":4,"cancel":2}"#, #"{"n":5,"args":["query","t"]}"#, #"{"n":6,"args":["version"]}"#, in: folder)
        try #require(replies.count == 8)
        for reply in replies[0...4] { #expect(reply.contains(#""exit":2,"error":{"code":"usage""#), "\(reply)") }
        #expect(replies[5] == #"{"n":4,"exit":1,"result":null}"#)
        #expect(replies[6].contains(#""exit":3,"error":{"code":"no-store""#))
        #expect(replies[7].hasPrefix(#"{"n":6,"exit":0,"result":{"version":"#))
    }

    @Test(arguments: [
        ["tail", "-f"], ["tail", "-fn3"], ["-s", "x", "tail", "--follow"], ["--store=x", "--json", "raw", "cat", "-f"],
        ["raw", "-s", "x", "cat", "--durable", "-f"], ["mirror", "x.sqlite", "-f"],
        ["-s", "x", "mirror", "-f", "x.sqlite"],
        ["--branch", "b", "sync", "--watch"], ["-s", "x", "studio"], ["--json", "shell"],
    ])
    func `a command without an end is refused, wherever its options are`(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let line = JSONValue(["n": 1, "args": .array(words.map(Value.string))]).text
        let replies = await replies(line, #"{"n":2,"args":["version"]}"#, in: folder)
        try #require(replies.count == 2)
        #expect(replies[0].hasPrefix(#"{"n":1,"exit":2,"error":{"code":"usage""#), "\(replies[0])")
        #expect(replies[0].contains("run inside the shell"), "\(replies[0])")
    }

    @Test func `a statement can be cancelled, and so can what waits for it`() async throws {
        let folder = try TemporaryFolder()
        let endless = "with recursive s(n) as (select 1 union all select n + 1 from s) select max(n) from s"
        let replies = await replies(
            #"{"n":1,"args":["init"]}"#, #"{"n":2,"args":["sql","\#(endless)"]}"#,
            #"{"n":3,"args":["insert","t","{\"id\":\"a\"}"]}"#, "nonsense",
            #"{"n":4,"args":["insert","t","{\"id\":\"b\"}"]}"#, #"{"n":5,"cancel":3}"#, #"{"n":6,"cancel":2}"#,
            #"{"n":7,"args":["sql","select id from t"]}"#, #"{"n":8,"args":["query","t"]}"#, in: folder)
        try #require(replies.count == 9, "\(replies)")
        #expect(replies[1] == #"{"n":5,"exit":0,"result":null}"#)
        #expect(replies[2].hasPrefix(#"{"n":3,"exit":3,"error":{"code":"cancelled""#), "\(replies[2])")
        #expect(replies[3] == #"{"n":6,"exit":0,"result":null}"#)
        #expect(replies[4].hasPrefix(#"{"n":2,"exit":3,"error":{"code":"cancelled""#), "\(replies[4])")
        #expect(replies[5].hasPrefix(#"{"n":null,"exit":2"#), "\(replies[5])")
        #expect(replies[6] == #"{"n":4,"exit":0,"result":{"id":"b"}}"#)
        #expect(replies[7] == #"{"n":7,"exit":0,"result":[{"id":"b"}]}"#)
        #expect(replies[8] == #"{"n":8,"exit":0,"result":[{"id":"b"}]}"#)
    }

    @Test func `a result has a size, also that of a statement without an end`() async throws {
        let endless = "with recursive s(n) as (select 1 union all select n + 1 from s) select n from s"
        let folder = try TemporaryFolder()
        let output = MemorySink()
        let host = Host(
            environment: Environment(
                variables: ["SYNCLINE_STORE": folder.path + "/store"], directory: "/", outputIsTerminal: false,
                errorsAreTerminal: false, width: 80),
            output: output, errors: MemorySink(),
            input: MemoryLines(
                #"""
                {"n":1,"args":["init"]}
                {"n":2,"args":["sql","\#(endless)"]}
                {"n":3,"args":["sql","select 1 as n"]}

                """#))
        let style = TextStyle(isForPeople: false, hasColour: false)
        try await MachineShell(host, Output(output, form: .json, style: style), replyLimit: 1000).run()
        let replies = output.text.split(separator: "\n")
        try #require(replies.count == 3)
        #expect(replies[1].hasPrefix(#"{"n":2,"exit":4,"error":{"code":"result-too-large""#), "\(replies[1])")
        #expect(replies[2] == #"{"n":3,"exit":0,"result":[{"n":1}]}"#)
    }

    @Test func `changes made in one shell exist in the next`() async throws {
        let folder = try TemporaryFolder()
        _ = await replies(
            #"{"n":1,"args":["init","--ids","ignore-case"]}"#, #"{"n":2,"args":["insert","t","{\"id\":\"Abc\"}"]}"#,
            in: folder)
        let replies = await replies(#"{"n":1,"args":["get","t","aBC"]}"#, in: folder)
        #expect(replies == [#"{"n":1,"exit":0,"result":{"id":"Abc"}}"#])
    }
}
