// The commands that talk to a server, if it refuses, is silent, or does not exist.

import Foundation
import Testing

@testable import SynclineTool

/// A port that accepts connections and never sends anything.
private final class SilentServer {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        descriptor = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isOpen = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        try #require(isOpen)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}

@Suite struct SyncCommandTests {
    private let folder: TemporaryFolder
    private var store: String { folder.path + "/store" }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func replies(_ lines: [String]) async -> [String: String] {
        let call = await Call.tool(
            words: ["shell", "--json", "-s", store], input: lines.joined(separator: "\n") + "\n")
        var replies: [String: String] = [:]
        for line in call.output.split(separator: "\n") {
            let number = line.dropFirst(5).prefix { $0.isNumber }
            replies[String(number)] = String(line)
        }
        return replies
    }

    @Test func `while a push waits other lines are answered, and it can be cancelled`() async throws {
        let server = try SilentServer()
        let replies = await replies([
            #"{"n":1,"args":["init","--backend","http://127.0.0.1:\#(server.port)"]}"#,
            #"{"n":2,"args":["insert","t","{\"id\":\"a\"}"]}"#, #"{"n":3,"args":["push"]}"#,
            #"{"n":4,"args":["pull","t"]}"#, #"{"n":5,"args":["insert","t","{\"id\":\"b\"}"]}"#, #"{"n":6,"cancel":4}"#,
            #"{"n":7,"cancel":3}"#, #"{"n":8,"cancel":99}"#,
        ])
        #expect(replies["5"] == #"{"n":5,"exit":0,"result":{"id":"b"}}"#)
        #expect(replies["6"] == #"{"n":6,"exit":0,"result":null}"#)
        #expect(replies["7"] == #"{"n":7,"exit":0,"result":null}"#)
        #expect(replies["8"] == #"{"n":8,"exit":1,"result":null}"#)
        for number in ["3", "4"] {
            let reply = replies[number] ?? ""
            #expect(reply.hasPrefix(#"{"n":\#(number),"exit":3,"result":{"outcome":"stopped","reason":"cancelled""#))
        }
    }

    @Test func `without a server nothing is lost`() async throws {
        var port: UInt16 = 0
        do { port = try SilentServer().port }
        let replies = await replies([
            #"{"n":1,"args":["init","--backend","http://127.0.0.1:\#(port)"]}"#,
            #"{"n":2,"args":["insert","t","{\"id\":\"a\"}"]}"#, #"{"n":3,"args":["push","--retries","0"]}"#,
            #"{"n":4,"args":["pull","t","--no-push"]}"#, #"{"n":5,"args":["sync"]}"#,
        ])
        #expect(replies["3"]?.contains(#""exit":3,"result":{"outcome":"stopped","reason":"offline""#) == true)
        #expect(replies["4"]?.contains(#""reason":"offline","requests":1"#) == true)
        #expect(replies["5"]?.contains(#""exit":3"#) == true)
        let pending = await Call.tool("pending", "--json", "-s", store)
        #expect(pending.output.contains(#""state":"pending","maybeSent":true"#))
    }

    @Test func `an impossible request is refused before anything is sent`() async throws {
        let first = await replies([#"{"n":1,"args":["init"]}"#, #"{"n":2,"args":["push"]}"#])
        #expect(first["2"]?.contains(#""error":{"code":"invalid-configuration""#) == true)
        _ = await Call.tool("config", "backend", "http://127.0.0.1:1", "-s", store)
        let replies = await replies([
            #"{"n":3,"args":["push","--policy","x"]}"#,
            #"{"n":5,"args":["pull","t","--query-id","q","--top","5"]}"#,
            #"{"n":6,"args":["pull","t","--filter","a eq"]}"#, #"{"n":7,"args":["resolve","t/a","--merge"]}"#,
            #"{"n":8,"args":["resolve","t/a"]}"#, #"{"n":9,"args":["push","--dry-run"]}"#,
            #"{"n":10,"args":["conflicts"]}"#,
        ])
        let codes = [
            "3": "usage", "5": "invalid-query", "6": "invalid-query",
            "7": "operation-not-found", "8": "usage",
        ]
        for (number, code) in codes {
            #expect(replies[number]?.contains(#""error":{"code":"\#(code)""#) == true, "\(replies[number] ?? "")")
        }
        #expect(replies["9"]?.contains(#""outcome":"complete""#) == true)
        #expect(replies["10"] == #"{"n":10,"exit":0,"result":[]}"#)
    }

    @Test func `a dry run shows each request as it would be sent, and sends none`() async throws {
        let lines = [
            #"{"n":1,"args":["init","--backend","http://127.0.0.1:1"]}"#,
            #"{"n":2,"args":["config","token","hush"]}"#,
            #"{"n":3,"args":["insert","t","{\"id\":\"a b\",\"text\":\"\\u001b[31m\",\"n\":1}"]}"#,
            #"{"n":4,"args":["update","t","{\"id\":\"u\",\"n\":2}"]}"#,
            #"{"n":5,"args":["delete","other","d"]}"#, #"{"n":6,"args":["push","--retries","0","--table","t"]}"#,
            #"{"n":7,"args":["update","t","{\"id\":\"a b\",\"n\":5}"]}"#, #"{"n":8,"args":["push","--dry-run"]}"#,
            #"{"n":9,"args":["push","--dry-run","--table","other"]}"#,
        ]
        _ = await replies(Array(lines.prefix(6)))
        let replies = await replies(Array(lines.dropFirst(6)))
        let reply = try #require(replies["8"])
        // The first one was sent, and its response was lost: it is sent again unchanged, and later changes wait.
        let id = try #require(reply.firstMatch(of: /"X-Syncline-Operation-Id":"([^"]+)"/)?.1)
        let head = #"{"table":"t","id":"a b","kind":"#
        let headers = #""Accept":"application/json","Content-Type":"application/json""#
        #expect(
            reply == #"{"n":8,"exit":0,"result":{"outcome":"incomplete","reason":"push-incomplete","operations":["#
                + head + #""insert","outcome":"pending","status":null,"code":null,"bytes":38,"expects":null,"#
                + #""request":{"method":"POST","#
                + #""path":"/tables/t","headers":{\#(headers),"X-Syncline-Operation-Id":"\#(id)","#
                + #""ZUMO-API-VERSION":"2.0.0"},"body":{"id":"a b","text":"\u001b[31m","n":1}}},"#
                + #"{"table":"t","id":"u","kind":"update","outcome":"pending","status":null,"code":null,"#
                + #""bytes":7,"expects":null,"request":"#
                + #"{"method":"PATCH","path":"/tables/t/u","headers":{\#(headers),"ZUMO-API-VERSION":"2.0.0"},"#
                + #""body":{"n":2}}},"#
                + #"{"table":"other","id":"d","kind":"delete","outcome":"pending","status":null,"code":null,"#
                + #""bytes":0,"expects":null,"request":"#
                + #"{"method":"DELETE","path":"/tables/other/d","headers":{"Accept":"application/json","#
                + #""ZUMO-API-VERSION":"2.0.0"},"body":null}},"#
                + head + #""update","outcome":"pending","status":null,"code":null,"bytes":7,"expects":null,"request":"#
                + #"{"method":"PATCH","path":"/tables/t/a%20b","headers":{\#(headers),"ZUMO-API-VERSION":"2.0.0"},"#
                + #""body":{"n":5}}}],"#
                + #""message":"4 operations are left"}}"#)
        #expect(replies["9"]?.contains(#""operations":[{"table":"other""#) == true)
        #expect(replies["9"]?.contains("hush") == false)
        let text = await Call.tool("push", "--dry-run", "-s", store)
        #expect(text.exit == .done)
        #expect(
            text.output == """
                insert t/a b: pending
                  POST /tables/t
                  Accept: application/json
                  Content-Type: application/json
                  X-Syncline-Operation-Id: \(id)
                  ZUMO-API-VERSION: 2.0.0
                  {"id":"a b","text":"\\u001b[31m","n":1}
                  38 bytes
                update t/u: pending
                  PATCH /tables/t/u
                  Accept: application/json
                  Content-Type: application/json
                  ZUMO-API-VERSION: 2.0.0
                  {"n":2}
                  7 bytes
                delete other/d: pending
                  DELETE /tables/other/d
                  Accept: application/json
                  ZUMO-API-VERSION: 2.0.0
                update t/a b: pending
                  PATCH /tables/t/a%20b
                  Accept: application/json
                  Content-Type: application/json
                  ZUMO-API-VERSION: 2.0.0
                  {"n":5}
                  7 bytes
                push incomplete: 4 operations are left

                """)
        let events = await Call.tool("log", "--kind", "sent", "--json", "-s", store)
        #expect(try events.array().count == 1, "looking freezes nothing")
    }

    @Test func `secrets stay out of the log and of what is shown`() async throws {
        _ = await Call.tool("init", "-s", store)
        let set = await Call.tool("config", "token", "hush", "--json", "-s", store)
        #expect(set.output.contains(#""token":"••••""#))
        let headers = await Call.tool("config", "headers", #"{"X-Key":"hush"}"#, "--json", "-s", store)
        #expect(headers.output.contains(#""headers":{"X-Key":"••••"}"#))
        for name in try FileManager.default.contentsOfDirectory(atPath: store) where name != "secrets.json" {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: store + "/" + name))
            #expect(bytes.range(of: Data("hush".utf8)) == nil, "\(name)")
        }
        let mode = try FileManager.default.attributesOfItem(atPath: store + "/secrets.json")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let wrong = await Call.tool("config", "headers", "nonsense", "--json", "-s", store)
        #expect(wrong.output.contains("invalid-configuration"))
    }
}
