// The configurations of the page about deployment, run by the real programs.

import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct RealProxyTests {
    private static let lies = [
        "Forwarded: for=6.6.6.6;host=evil.example;proto=http", "X-Forwarded-For: 6.6.6.6",
        "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: http", "X-Request-Id: mine",
    ]

    @Test(arguments: ProxyProgram.available)
    func `the page's configuration lets no client choose its address, host or scheme`(_ program: ProxyProgram) throws {
        let folder = try TemporaryFolder()
        let server = try ServerProcess([
            "--store", "sqlite:\(folder.path)/a.db", "--listen", "127.0.0.1:0", "--table", "t", "--set", "pageSize=1",
            "--set", #"trustedProxies=["127.0.0.1"]"#,
        ])
        let own = KeptConnection(port: server.port)
        for id in ["a", "b"] { #expect(own.ask("POST", "/tables/t", #"{"id":"\#(id)"}"#)?.status == 201) }
        do {
            let proxy = try RealProxy(program, server: server.port)
            for lies in [Self.lies, Array(Self.lies.dropFirst()), [Self.lies[0]], [Self.lies[2]], []] {
                let answer = try proxy.ask("/tables/t?$orderby=id", lies)
                #expect(answer.lowercased().contains("link: https://\(proxy.authority)/tables/t?"), "\(answer)")
                #expect(!answer.contains("evil.example") && !answer.contains("X-Request-Id: mine"))
            }
            #expect(try proxy.ask("/metrics").hasPrefix("HTTP/1.1 404"))
            let other = try proxy.ask("/tables/t", ["Host: evil.example"])
            #expect(!other.contains("[{"), "\(other)")
        }
        server.signal(15)
        _ = server.wait()
        let lines = server.errors.split(separator: "\n").filter { $0.contains(#"GET "/tables/t""#) }
        #expect(lines.count == 5 && lines.allSatisfy { $0.contains(" 127.0.0.1 ") }, "\(server.errors)")
        withExtendedLifetime(folder) {}
    }
}
